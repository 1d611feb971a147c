/** What the layout check reports about one element. */
export interface LayoutFinding {
  /** `clipped`: text or a control is cut; `overlap`: `element` and `other` cover one another; `outside`: beyond the window, or beyond
   * the card `other`. */
  kind: 'clipped' | 'overlap' | 'outside'
  /** Role, name or text, and a short selector. */
  element: string
  other?: string
  /** Cut, covered or outside, in CSS pixels. */
  pixels: number
}
