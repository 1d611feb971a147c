/** The tabs of a message and the one that stands in the address. */
export const MESSAGE_TABS = ['timeline', 'preview', 'source', 'facts'] as const

/** One of them. */
export type MessageTab = (typeof MESSAGE_TABS)[number]

/** Reads the tab from an address. */
export function messageTab(raw: Record<string, unknown>): { tab?: MessageTab } {
  const tab = MESSAGE_TABS.find(known => known === raw.tab)
  return tab ? { tab } : {}
}
