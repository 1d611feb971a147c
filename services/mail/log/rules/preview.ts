/** The page that shows a message in a sandboxed frame; its policy lets nothing run and nothing load. */
import type { Readable } from '../../message/mime-reader.ts'

/** Headers of a preview: no script, no form, no frame, no request; only inline style and images inside the message. */
export const PREVIEW_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"

/** Most characters of images in a page: each place shows its image again, and a page of 100 places could fill the memory. */
const MAX_IMAGES = 16 * 1024 * 1024

/** The HTML of a message with its inline images, else its text. Not cleaned: the policy and the frame hold it. */
export function previewPage({ html, text, images }: Readable): string {
  if (html === undefined)
    return `<!doctype html><meta charset="utf-8"><pre style="white-space:pre-wrap">${escapeText(text ?? '')}</pre>`
  let left = MAX_IMAGES
  return html.replaceAll(/\bcid:([\w.@+$%-]{1,255})/gi, (reference, id: string) => {
    const image = images.get(id)
    if (image === undefined || image.length > left) return reference
    left -= image.length
    return image
  })
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
