// Renders a letter's pages as images, so that a reviewer need not open the file. Runs in a thread only: see
// letter-thread.ts.
import { createCanvas, loadImage, type Canvas } from '@napi-rs/canvas'
import type { LetterMediaType } from '@pharos/contract/letter'

export type Pages = {
  readonly count: number
  /** Returns a PNG of page 1 to `count`, at most `sideMax` pixels wide and high. */
  render(page: number, sideMax: number): Promise<Buffer>
}

/** Throws an error of pdf.js or the canvas if the file cannot be opened. */
export function openPages(bytes: Buffer, mediaType: LetterMediaType): Promise<Pages> {
  return mediaType === 'application/pdf' ? openPdf(bytes) : openPicture(bytes)
}

async function openPdf(bytes: Buffer): Promise<Pages> {
  // Loaded only for PDFs: images need no pdf.js.
  const { AnnotationMode, documentOptions, getDocument } = await import('./pdf-library.ts')
  const document = await getDocument({ ...documentOptions, data: new Uint8Array(bytes) }).promise
  return {
    count: document.numPages,
    async render(number, sideMax) {
      const page = await document.getPage(number)
      const { width, height } = page.getViewport({ scale: 1 })
      const viewport = page.getViewport({ scale: sideMax / Math.max(width, height) })
      const canvas = createCanvas(pixels(viewport.width), pixels(viewport.height))
      // The library's types support only the browser's canvas.
      const target = { canvas, viewport } as unknown as Parameters<typeof page.render>[0]
      await page.render({ ...target, annotationMode: AnnotationMode.ENABLE }).promise
      page.cleanup()
      return encode(canvas)
    },
  }
}

async function openPicture(bytes: Buffer): Promise<Pages> {
  const picture = await loadImage(bytes)
  return {
    count: 1,
    async render(_page, sideMax) {
      const scale = Math.min(1, sideMax / Math.max(picture.width, picture.height))
      const canvas = createCanvas(pixels(picture.width * scale), pixels(picture.height * scale))
      canvas.getContext('2d').drawImage(picture, 0, 0, canvas.width, canvas.height)
      return encode(canvas)
    },
  }
}

const pixels = (length: number): number => Math.max(1, Math.round(length))
const encode = (canvas: Canvas): Promise<Buffer> => canvas.encode('png')
