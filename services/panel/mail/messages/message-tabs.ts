/** Tabs of the message page; the selected one is kept in the address. */
export const MESSAGE_TABS = ['timeline', 'preview', 'source', 'facts'] as const

export type MessageTab = (typeof MESSAGE_TABS)[number]

export function messageTab(raw: Record<string, unknown>): { tab?: MessageTab } {
  const tab = MESSAGE_TABS.find(known => known === raw.tab)
  return tab ? { tab } : {}
}
