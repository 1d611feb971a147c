/** The check of the layout finds what a person would see, and nothing else: small documents in real Chromium. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { layoutFindings } from './support/layout-findings.ts'

let browser: TestBrowser
let visitor: Visitor

beforeAll(async () => {
  browser = await startBrowser()
  visitor = await browser.visit('about:blank', { width: 390, height: 600 })
})

afterAll(async () => {
  await visitor?.leave()
  await browser?.stop()
})

const LONG = 'one-long-word-that-does-not-fit-into-it'
const NARROW = 'width:80px;overflow:hidden;white-space:nowrap'
const HIDDEN = 'position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)'
const LINES = 'display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;width:120px'
const OVER = 'position:absolute;left:8px;top:8px'
const SENTENCE = 'a sentence of many words that needs four lines in a narrow box'

async function examine(html: string) {
  const { page } = visitor
  await page.setContent(`<!doctype html><body style="margin:8px;font:16px/1.4 sans-serif">${html}</body>`)
  return layoutFindings(page)
}

describe('finds', () => {
  test.each([
    ['an ellipsis', `<p style="${NARROW};text-overflow:ellipsis">${LONG}</p>`, 'clipped', /^p "one-long/],
    ['cut text without ellipsis', `<p style="${NARROW}">${LONG}</p>`, 'clipped', /^p "one-long/],
    ['overflow: clip', `<p style="${NARROW};overflow:clip">${LONG}</p>`, 'clipped', /^p /],
    ['text cut by an outer box', `<div style="${NARROW}"><b><i>${LONG}</i></b></div>`, 'clipped', /^div /],
    [
      'cut text with a name for screen readers',
      `<p aria-label="${LONG}" style="${NARROW}">${LONG}</p>`,
      'clipped',
      /^p /,
    ],
    ['cut text with another title', `<p title="one" style="${NARROW}">${LONG}</p>`, 'clipped', /^p /],
    ['a line cut in its height', `<p style="height:12px;overflow:hidden">text</p>`, 'clipped', /^p "text"/],
    ['clamped lines', `<p style="${LINES}">${SENTENCE}</p>`, 'clipped', /^p "a sentence/],
    ['a label of a button', `<button style="${NARROW}">${LONG}</button>`, 'clipped', /^button /],
    ['a placeholder', `<input style="width:80px" placeholder="${LONG}">`, 'clipped', /^input "one-long/],
    ['a chosen value', `<input aria-haspopup="listbox" value="${LONG}" style="width:90px">`, 'clipped', /^input /],
    ['a value that is only read', `<input readonly value="${LONG}" style="width:90px">`, 'clipped', /^input /],
    ['a chosen option', `<select style="width:60px"><option>${LONG}</option></select>`, 'clipped', /^select /],
    [
      'a date',
      '<input type="date" aria-label="From" value="2026-11-20" style="width:50px">',
      'clipped',
      /^input "From"/,
    ],
    [
      'an icon button cut by its card',
      `<div style="width:80px;overflow:hidden"><button aria-label="More" style="margin-left:70px;width:30px;height:20px">
       </button></div>`,
      'clipped',
      /^button "More"/,
    ],
    ['text over text', `<p>first</p><p style="${OVER};margin:16px 0">second</p>`, 'overlap', /^p "first"|^p "second"/],
    ['a button over text', `<p>first words</p><button style="${OVER};top:24px">x</button>`, 'overlap', /^p /],
    [
      'a button over the text of its own paragraph',
      `<p style="position:relative">first words<button style="${OVER};left:20px;top:0">x</button></p>`,
      'overlap',
      /^(p|button) /,
    ],
    [
      'a clear button over a value',
      `<div style="position:relative;width:100px"><input value="a long value" style="width:100px">
       <button aria-label="Clear" style="position:absolute;right:0;top:0;width:24px;height:20px"></button></div>`,
      'overlap',
      /^(input|button) /,
    ],
    ['two buttons', `<button>first</button><button style="margin-left:-30px">second</button>`, 'overlap', /^button /],
    [
      'labels of a chart',
      '<svg width="200" height="40"><text x="10" y="20">January</text><text x="40" y="20">March</text></svg>',
      'overlap',
      /^text /,
    ],
    [
      'a button beyond the right edge',
      '<button style="margin-left:370px;width:60px">x</button>',
      'outside',
      /^button /,
    ],
    ['text beyond the left edge', '<p style="margin-left:-20px;white-space:nowrap">first words</p>', 'outside', /^p /],
    ['text above the page', '<p style="margin-top:-18px">first words</p>', 'outside', /^p /],
    [
      'text beyond its card',
      `<div style="border:1px solid;width:120px"><p style="white-space:nowrap">${LONG}</p></div>`,
      'outside',
      /^p /,
    ],
    [
      'a label of a chart that is wider than its card',
      `<div style="background:#eee;width:120px"><svg width="200" height="40"><text x="90" y="20">January</text></svg></div>`,
      'outside',
      /^text /,
    ],
    [
      'a button below its card',
      `<div style="border:1px solid;height:10px"><button>x</button></div>`,
      'outside',
      /^button /,
    ],
    ['a fixed button below the window', '<button style="position:fixed;top:590px">x</button>', 'outside', /^button /],
  ] as const)('%s', async (_, html, kind, element) => {
    const [first, ...more] = await examine(html)
    expect(first?.kind).toBe(kind)
    expect(first?.element).toMatch(element)
    expect(first?.pixels).toBeGreaterThan(1)
    // A button and its words both leave the window, or both cover something: no other kind of defect is reported.
    expect(more.filter(finding => finding.kind !== kind)).toEqual([])
  })
})

describe('does not mind', () => {
  test.each([
    [
      'a label that hangs out of its card on purpose',
      `<div style="border:1px solid;height:30px"><b style="${OVER};top:-1px">new</b></div>`,
    ],
    [
      'a wide table that is scrolled in its card',
      `<div style="border:1px solid;width:90px"><pre style="overflow:auto">${LONG}</pre></div>`,
    ],
    ['text that fits', `<p style="overflow:hidden">text</p>`],
    ['a line height below that of the font', '<p style="line-height:1;overflow:hidden">gÄg</p>'],
    ['cut text with a title', `<p title="${LONG}" style="${NARROW}">${LONG}</p>`],
    ['cut text in something with a title', `<a title="To ${LONG}"><span style="${NARROW}">${LONG}</span></a>`],
    [
      'cut text with an open tooltip',
      `<p aria-describedby="tip" style="${NARROW}">${LONG}</p><p id="tip" role="tooltip">${LONG}</p>`,
    ],
    ['clamped lines with a title', `<p title="${SENTENCE}" style="${LINES}">${SENTENCE}</p>`],
    [
      'a scrolled box',
      `<div style="width:80px;overflow-x:auto"><p style="white-space:nowrap">${LONG} ${LONG}</p></div>`,
    ],
    ['a scrolled box of lines', `<div style="height:30px;overflow-y:auto"><p>${SENTENCE} ${SENTENCE}</p></div>`],
    [
      'a button further right in a scrolled box',
      `<div style="overflow:auto"><pre>${LONG}${LONG}<button>x</button></pre></div>`,
    ],
    ['text for screen readers', `<span style="${HIDDEN}">${LONG}</span><p>first</p>`],
    ['a link to the content, moved out', '<a href="#x" style="position:absolute;left:-9999px">Skip</a>'],
    ['a menu moved out and hidden', `<nav style="visibility:hidden;transform:translateX(-50px)">words</nav>`],
    ['what is not displayed', `<div style="display:none"><p style="${NARROW}">${LONG}</p></div>`],
    ['what is transparent', `<p>first</p><p style="${OVER};opacity:0">second</p>`],
    ['a closed popover', `<p>first</p><div popover style="${OVER}">second</div>`],
    ['closed details', `<details style="width:80px"><summary>More</summary><p style="${NARROW}">${LONG}</p></details>`],
    ['a dialog over the page', `<p>first</p><div role="dialog" style="${OVER};margin:16px 0">second</div>`],
    [
      'a sticky header over text',
      `<header style="position:sticky;top:0;height:20px">head</header><p style="margin-top:-20px">first</p>`,
    ],
    ['a fixed bar over text', `<p>first</p><div style="position:fixed;top:20px;left:8px">bar</div>`],
    ['a button in a link', '<a href="#x">a link <button>x</button></a>'],
    [
      'a link that covers its row',
      '<div style="position:relative"><a href="#x" class="cover">row</a><i>text</i></div><style>.cover::after{content:"";position:absolute;inset:0}</style>',
    ],
    ['lines of one paragraph', `<p style="width:100px;line-height:1">${SENTENCE} <a href="#x">and a link</a></p>`],
    ['a label beside its checkbox', '<label><input type="checkbox"> Remember</label>'],
    ['a placeholder that fits', '<input style="width:200px" placeholder="Search">'],
    ['a typed value, which its caret scrolls', `<input value="${LONG}" style="width:80px">`],
    ['a long text in an area', `<textarea rows="2">${SENTENCE} ${SENTENCE}</textarea>`],
    [
      'a clear button beside a value',
      `<div style="position:relative;width:160px"><input value="short" style="width:160px;box-sizing:border-box">
       <button aria-label="Clear" style="position:absolute;right:0;top:0;width:24px;height:20px"></button></div>`,
    ],
    [
      'an empty area below a button',
      '<textarea style="width:200px"></textarea><button style="margin-left:-40px">x</button>',
    ],
    [
      'text in an absolute box that its ancestor does not clip',
      `<div style="height:10px;overflow:hidden"><p style="position:absolute;top:50px">text</p></div>`,
    ],
    ['a page that scrolls down', `<p style="margin-top:2000px">end</p>`],
  ])('%s', async (_, html) => {
    expect(await examine(html)).toEqual([])
  })

  test('what was scrolled away at the top', async () => {
    const { page } = visitor
    await examine(`<p>first</p><button>x</button><p style="margin-top:2000px">end</p>`)
    await page.evaluate('window.scrollTo(0, 40)')
    expect(await layoutFindings(page)).toEqual([])
  })
})
