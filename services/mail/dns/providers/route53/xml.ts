/** Reads and writes the XML of AWS: elements with texts, without attributes that matter. */
import sax from 'sax'

/** An element. `text` is that of an element without children. */
export interface XmlElement {
  name: string
  text: string
  children: XmlElement[]
}

/** Nesting of AWS answers is below ten. */
const MAX_DEPTH = 20

/** The root element; undefined for what is no XML, or has a document type. */
export function parseXml(text: string): XmlElement | undefined {
  // Entities can expand without bound, and these answers have none.
  if (/<!(?!--|\[CDATA\[)/.test(text)) return undefined
  const top: XmlElement = { name: '', text: '', children: [] }
  const path = [top]
  let failed = false
  const parser = sax.parser(true, { position: false })
  parser.onopentag = ({ name }) => {
    const element = { name: name.slice(name.indexOf(':') + 1), text: '', children: [] }
    path.at(-1)?.children.push(element)
    path.push(element)
    failed ||= path.length > MAX_DEPTH
  }
  parser.onclosetag = () => void path.pop()
  parser.ontext = more => {
    const element = path.at(-1)
    if (element) element.text += more
  }
  parser.onerror = () => {
    failed = true
    parser.resume()
  }
  parser.write(text).close()
  const [root] = top.children
  return failed || top.children.length !== 1 ? undefined : root
}

/** The first child of this name. */
export function child(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return element?.children.find(other => other.name === name)
}

/** The text of the element that a path of names leads to. */
export function textAt(element: XmlElement | undefined, ...path: readonly string[]): string | undefined {
  return path.reduce<XmlElement | undefined>(child, element)?.text
}

/** The children of a list element. */
export function listAt(element: XmlElement | undefined, name: string): readonly XmlElement[] {
  return child(element, name)?.children ?? []
}

/** Text in an element. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, char => `&#${char.charCodeAt(0)};`)
}
