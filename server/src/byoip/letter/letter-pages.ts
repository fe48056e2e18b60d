// Renders a letter's pages as images, so that a reviewer need not open the file. Runs in a thread only: see
// letter-thread.ts.
import { createCanvas, loadImage, type Canvas } from '@napi-rs/canvas'
import type { LetterMediaType } from '@pharos/contract/byoip/letter'
import { pixelsMax } from './letter-refusal.ts'

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
  const options = { ...documentOptions, CanvasFactory, data: new Uint8Array(bytes) }
  const document = await getDocument(options).promise
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

/** The largest picture, and its half while it is made smaller. */
const canvasPixelsMax = 1.5 * pixelsMax

type Entry = { canvas: Canvas | null; context: unknown }

/**
 * Creates the canvases of pdf.js, one for each nested group of a page, and throws if together they get too large: V8 does not
 * count their memory, so that no limit of the thread ends a page with hundreds of groups.
 */
class CanvasFactory {
  #pixels = 0

  create(width: number, height: number): Entry {
    if (!(width > 0 && height > 0)) throw new Error('a canvas without a size')
    this.#add(width * height)
    const canvas = createCanvas(width, height)
    return { canvas, context: canvas.getContext('2d') }
  }

  reset({ canvas }: Entry, width: number, height: number): void {
    this.#add(width * height - canvas!.width * canvas!.height)
    canvas!.width = width
    canvas!.height = height
  }

  destroy(entry: Entry): void {
    const { canvas } = entry
    if (!canvas) return
    this.#add(-canvas.width * canvas.height)
    canvas.width = canvas.height = 0
    entry.canvas = entry.context = null
  }

  getNoAlphaContext(canvas: Canvas): unknown {
    return canvas.getContext('2d', { alpha: false })
  }

  #add(pixels: number): void {
    this.#pixels += pixels
    if (this.#pixels > canvasPixelsMax) throw new Error('the groups of the page need too much memory')
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
