/**
 * Finds defects of the layout of the page in which it runs. The whole file is evaluated in a browser as a script, again for each
 * examination: it imports nothing but types.
 */
import type { LayoutFinding } from '../layout-finding.ts'

/** Differences up to this come from rounding. */
const TOLERANCE = 1
/** Neighbouring glyphs may touch one another. */
const TOUCHING = 2
const INTERACTIVE =
  'a[href], button, input, textarea, select, summary, [role=button], [role=link], [role=menuitem], [role=tab], [role=switch]'
const LAYER_ROLES = ['dialog', 'alertdialog', 'menu', 'listbox', 'tooltip', 'alert']
const FIELDS = 'input, textarea, select'
/** Texts as long as those that the browser itself shows in such fields, beside an icon. */
const NATIVE: Readonly<Record<string, string>> = {
  date: '00/00/0000',
  time: '00:00 PM',
  'datetime-local': '00/00/0000, 00:00 PM',
}
const NATIVE_ICON = 20
const WITHOUT_TEXT = ['checkbox', 'radio', 'range', 'color', 'file', 'hidden', 'image']

interface Box {
  left: number
  top: number
  right: number
  bottom: number
}
/** Something visible: a piece of text or a control. */
interface Item {
  element: Element
  /** Of a piece of text; items of the same node never overlap. */
  node?: Text
  box: Box
  layer: Element
}
const found = new Map<string, LayoutFinding>()
const canvas = document.createElement('canvas').getContext('2d')
const styles = new Map<Element, CSSStyleDeclaration>()

function styleOf(element: Element): CSSStyleDeclaration {
  const known = styles.get(element) ?? getComputedStyle(element)
  styles.set(element, known)
  return known
}

function report(kind: LayoutFinding['kind'], pixels: number, element: Element, other?: Element): void {
  const named = { element: describe(element), ...(other ? { other: describe(other) } : {}) }
  const key = `${kind} ${named.element} ${named.other}`
  if (!found.has(key)) found.set(key, { kind, ...named, pixels: Math.round(pixels * 10) / 10 })
}

function describe(element: Element): string {
  const role = element.getAttribute('role') ?? element.tagName.toLowerCase()
  const field = element as HTMLInputElement
  const text =
    element.getAttribute('aria-label') || element.textContent?.trim() || field.value || field.placeholder || field.name
  const path: string[] = []
  for (let at: Element | null = element; at && at !== document.body && path.length < 3; at = at.parentElement) {
    const classes = [...at.classList].filter(name => !/^m_|^__/.test(name)).slice(0, 2)
    path.unshift([at.tagName.toLowerCase(), ...classes].join('.'))
  }
  return `${role} "${(text ?? '').replaceAll(/\s+/g, ' ').slice(0, 60)}" (${path.join(' > ')})`
}

const boxOf = ({ left, top, right, bottom }: Box): Box => ({ left, top, right, bottom })
const isEmpty = (box: Box) => box.right - box.left < 1 || box.bottom - box.top < 1
const intersect = (a: Box, b: Box): Box => ({
  left: Math.max(a.left, b.left),
  top: Math.max(a.top, b.top),
  right: Math.min(a.right, b.right),
  bottom: Math.min(a.bottom, b.bottom),
})

/** Inside of the border, without scrollbars. */
function paddingBox(element: Element): Box {
  const { left, top } = element.getBoundingClientRect()
  const [x, y] = [left + element.clientLeft, top + element.clientTop]
  return { left: x, top: y, right: x + element.clientWidth, bottom: y + element.clientHeight }
}

const isInline = (element: Element) => styleOf(element).display === 'inline'
const isRoot = (element: Element) => element === document.body || element === document.documentElement

function isContainingBlock(element: Element): boolean {
  const { position, transform, filter, contain } = styleOf(element)
  return position !== 'static' || transform !== 'none' || filter !== 'none' || contain.includes('paint')
}

/** The ancestors that can clip an element, from the inside to the outside, without the root. */
function* clippingAncestors(element: Element, withSelf: boolean): Generator<Element> {
  let position = withSelf ? 'static' : styleOf(element).position
  for (let at = withSelf ? element : element.parentElement; at && !isRoot(at); at = at.parentElement) {
    if (position === 'fixed' && styleOf(at).transform === 'none') continue
    if (position === 'absolute' && !isContainingBlock(at)) continue
    position = styleOf(at).position
    if (!isInline(at)) yield at
  }
}

/** The usual ways to hide content from eyes only: one pixel, clipped away, or moved out to the left or to the top. */
function isVisuallyHidden(element: Element): boolean {
  for (let at: Element | null = element; at && !isRoot(at); at = at.parentElement) {
    const { clipPath, clip, position, overflowX } = styleOf(at)
    if (clipPath.startsWith('inset(5') || clipPath.startsWith('inset(1')) return true
    if (position === 'absolute' && /^rect\((0|1)px/.test(clip)) return true
    if (overflowX === 'hidden' && at instanceof HTMLElement && at.clientWidth <= 1 && at.clientHeight <= 1) return true
  }
  return false
}

function isShown(element: Element): boolean {
  return element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !isVisuallyHidden(element)
}

/** Layers lie above one another on purpose. */
function layerOf(element: Element): Element {
  for (let at: Element | null = element; at && !isRoot(at); at = at.parentElement) {
    if (['fixed', 'sticky'].includes(styleOf(at).position)) return at
    if (at.hasAttribute('popover') || LAYER_ROLES.includes(at.getAttribute('role') ?? '')) return at
  }
  return document.body
}

const words = (text: string | null | undefined) => (text ?? '').replaceAll(/\s+/g, ' ').trim()

/** Whether a title or a tooltip shows all of the text. */
function isReachable(text: string, element: Element): boolean {
  for (let at: Element | null = element; at && !isRoot(at); at = at.parentElement) {
    const described = (at.getAttribute('aria-describedby') ?? '').split(' ').map(id => document.getElementById(id))
    const tooltips = described.filter(tip => tip?.getAttribute('role') === 'tooltip').map(tip => tip?.textContent)
    if ([at.getAttribute('title'), ...tooltips].some(full => words(full).includes(words(text)))) return true
  }
  return false
}

/** Pixels of a box that an ancestor hides for good: what a scroll container hides can be scrolled into view. */
function hiddenBy(box: Box, inner: Box, { overflowX, overflowY }: CSSStyleDeclaration): number {
  const across = Math.max(box.right - inner.right, inner.left - box.left)
  const down = Math.max(box.bottom - inner.bottom, inner.top - box.top)
  return Math.max(hides(overflowX) ? across : 0, hides(overflowY) ? down : 0)
}

/** What remains visible of a box within the ancestors that clip it. `cut` is called for each that hides a part for good. */
function visiblePart(box: Box, ancestors: Iterable<Element>, cut: (pixels: number, by: Element) => void): Box {
  let rest = box
  for (const ancestor of ancestors) {
    const style = styleOf(ancestor)
    if (style.overflowX === 'visible' && style.overflowY === 'visible') continue
    const inner = paddingBox(ancestor)
    const pixels = hiddenBy(rest, inner, style)
    if (pixels > TOLERANCE) cut(pixels, ancestor)
    const across = style.overflowX === 'visible' ? rest : inner
    const down = style.overflowY === 'visible' ? rest : inner
    rest = intersect(rest, { left: across.left, right: across.right, top: down.top, bottom: down.bottom })
    if (isEmpty(rest)) break
  }
  return rest
}

const hides = (overflow: string) => overflow === 'hidden' || overflow === 'clip'

/** The height of glyphs rather than that of the font's line. */
function glyphBox(box: Box, element: Element): Box {
  const size = Number.parseFloat(styleOf(element).fontSize)
  const spare = Math.max(0, box.bottom - box.top - size) / 2
  return { ...box, top: box.top + spare, bottom: box.bottom - spare }
}

function* textItems(): Generator<Item> {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement
    const text = node.nodeValue ?? ''
    if (!element || !text.trim() || element.closest('textarea, select, script, style, iframe')) continue
    if (!isShown(element)) continue
    range.selectNodeContents(node)
    const layer = layerOf(element)
    for (const rect of range.getClientRects()) {
      const box = glyphBox(boxOf(rect), element)
      if (isEmpty(box)) continue
      const visible = visiblePart(box, clippingAncestors(element, true), (by, ancestor) => {
        if (!isReachable(text, element)) report('clipped', by, ancestor)
      })
      if (!isEmpty(visible)) yield { element, node: node as Text, box: visible, layer }
    }
  }
}

function textWidth(text: string, style: CSSStyleDeclaration): number {
  if (!canvas) return 0
  canvas.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`
  return canvas.measureText(text).width + (Number.parseFloat(style.letterSpacing) || 0) * text.length
}

/** The text that a field shows: a typed one is scrolled by its caret, but a chosen or fixed one and a placeholder are not. */
function shownText(field: Element): { text: string; canScroll: boolean } {
  if (field instanceof HTMLSelectElement) return { text: field.selectedOptions[0]?.text ?? '', canScroll: false }
  if (!(field instanceof HTMLInputElement)) return { text: '', canScroll: true }
  if (WITHOUT_TEXT.includes(field.type)) return { text: '', canScroll: true }
  const native = NATIVE[field.type]
  if (native) return { text: native, canScroll: false }
  if (!field.value) return { text: field.placeholder, canScroll: false }
  const text = field.type === 'password' ? '•'.repeat(field.value.length) : field.value
  const isChosen = field.readOnly || ['listbox', 'dialog'].includes(field.getAttribute('aria-haspopup') ?? '')
  return { text, canScroll: !isChosen && field.type !== 'button' && field.type !== 'submit' }
}

/** Reports a text that does not fit into its field; returns where the text is. */
function examineField(field: Element): Box {
  const style = styleOf(field)
  const inner = paddingBox(field)
  const box = {
    ...inner,
    left: inner.left + Number.parseFloat(style.paddingLeft),
    right: inner.right - Number.parseFloat(style.paddingRight),
  }
  if (field instanceof HTMLTextAreaElement) return field.value || field.placeholder ? box : { ...box, right: box.left }
  const { text, canScroll } = shownText(field)
  const width = textWidth(text, style) + (field instanceof HTMLInputElement && NATIVE[field.type] ? NATIVE_ICON : 0)
  const cut = width - (box.right - box.left)
  if (cut > TOLERANCE && !canScroll && !isReachable(text, field)) report('clipped', cut, field)
  return { ...box, right: Math.min(box.right, box.left + width) }
}

/** The parts of a control: the text of a field, else each line of an inline link. */
function visibleParts(element: Element): Box[] {
  if (element.matches(FIELDS))
    return [visiblePart(examineField(element), clippingAncestors(element, false), () => undefined)]
  return [...element.getClientRects()].map(boxOf).map(box =>
    visiblePart(box, clippingAncestors(element, false), (pixels, ancestor) => {
      // Text inside is reported by itself.
      if (!words(element.textContent)) report('clipped', pixels, element, ancestor)
    }),
  )
}

function controlItems(): Item[] {
  return [...document.querySelectorAll(INTERACTIVE)].filter(isShown).flatMap(element => {
    const layer = layerOf(element)
    const boxes = visibleParts(element).filter(box => !isEmpty(box))
    return boxes.map(box => ({ element, box, layer }))
  })
}

function examineWindow({ element, box, layer }: Item): void {
  // Moved out of sight on purpose, as links to the content are.
  if (box.right <= 0 || box.bottom + window.scrollY <= 0) return
  const across = Math.max(box.right - window.innerWidth, -box.left)
  const isFixed = styleOf(layer).position === 'fixed'
  const down = isFixed ? Math.max(box.bottom - window.innerHeight, -box.top) : -(box.top + window.scrollY)
  if (Math.max(across, down) > TOLERANCE) report('outside', Math.max(across, down), element)
}

/** Whether an element paints an area that its content should stay in. */
function isPainted(element: Element): boolean {
  const { backgroundColor, borderLeftWidth, borderLeftStyle } = styleOf(element)
  const hasBorder = borderLeftStyle !== 'none' && Number.parseFloat(borderLeftWidth) > 0
  return hasBorder || !/^(transparent|rgba\(.*, 0\))$/.test(backgroundColor)
}

/** Reports what reaches beyond the card or the badge in which it flows. */
function examineCard({ element, node, box }: Item): void {
  for (let at: Element | null = node ? element : element.parentElement; at && !isRoot(at); at = at.parentElement) {
    if (['absolute', 'fixed'].includes(styleOf(at).position)) return
    if (isInline(at) || at instanceof SVGElement || !isPainted(at)) continue
    const { left, top, right, bottom } = at.getBoundingClientRect()
    const pixels = Math.max(box.right - right, left - box.left, box.bottom - bottom, top - box.top)
    if (pixels > TOUCHING) report('outside', pixels, element, at)
    return
  }
}

function areRelated(a: Item, b: Item): boolean {
  if (a.node && b.node) return a.node === b.node
  if (a.node) return b.element.contains(a.element)
  if (b.node) return a.element.contains(b.element)
  return a.element.contains(b.element) || b.element.contains(a.element)
}

function examineOverlaps(items: readonly Item[]): void {
  const sorted = items.toSorted((a, b) => a.box.top - b.box.top)
  for (const [index, a] of sorted.entries())
    for (let next = index + 1; next < sorted.length; next++) {
      const b = sorted[next]
      if (!b || b.box.top >= a.box.bottom - TOUCHING) break
      if (a.layer !== b.layer || areRelated(a, b)) continue
      const shared = intersect(a.box, b.box)
      const pixels = Math.min(shared.right - shared.left, shared.bottom - shared.top)
      if (pixels > TOUCHING) report('overlap', pixels, a.element, b.element)
    }
}

/**
 * Text counts as cut unless a `title` or a tooltip shows all of it; a name for screen readers does not help a person who looks.
 * Ignored are content that is not shown, content that can be scrolled into view, and layers above the page (dialogs, sticky
 * headers) against what is below them.
 */
export function findLayoutDefects(): LayoutFinding[] {
  const items = [...textItems(), ...controlItems()]
  for (const item of items) {
    examineWindow(item)
    examineCard(item)
  }
  examineOverlaps(items)
  return [...found.values()]
}
