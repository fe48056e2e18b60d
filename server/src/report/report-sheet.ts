// The pages of a PDF: text, rules and tables from top to bottom, with a footer on each page. Loaded in the thread of the report only.
import { PDFDocument, type SKRSContext2D } from '@napi-rs/canvas'
import { canDraw, loadFonts } from '../text/pdf-fonts.ts'

/** A4, in points. */
export const page = { width: 595.28, height: 841.89, margin: 44, foot: 40 } as const
export const contentWidth = page.width - 2 * page.margin

/** The light colors of the portal; `accent` is the provider's. */
export const ink = {
  text: '#101820',
  soft: '#475364',
  faint: '#667284',
  line: '#e2e6ec',
  ground: '#f6f7f9',
  series: ['#3574d9', '#e0812b', '#1d9e86', '#8a63d2', '#d1527a', '#b8930b'],
} as const

export type TextStyle = {
  readonly size?: number
  readonly weight?: 400 | 500 | 600 | 700
  readonly color?: string
  readonly align?: 'left' | 'right' | 'center'
  /** Longer texts end in an ellipsis. */
  readonly widthMax?: number
}

export type SheetColumn = {
  readonly title: string
  readonly width: number
  readonly align?: 'left' | 'right'
}

export type SheetOptions = {
  readonly title: string
  /** Everything that is written, for the fonts. */
  readonly text: string
  readonly accent: string
  /** Left and right text at the top of every page except the first. */
  readonly running: readonly [string, string]
  readonly footer: string
  /** Undefined while the pages are counted. */
  readonly pageCount?: number
}

const rowHeight = 18

export class Sheets {
  /** Position of the next block. */
  y: number = page.margin
  readonly accent: string
  readonly #options: SheetOptions
  /** The families of a canvas font. */
  readonly fonts: string
  readonly #document: PDFDocument
  #canvas: SKRSContext2D
  #pages = 0

  constructor(options: SheetOptions) {
    this.#options = options
    this.accent = options.accent
    this.fonts = loadFonts(`${options.text}…–·/`)
    this.#document = new PDFDocument({ title: options.title, creator: 'Pharos' })
    this.#canvas = this.#begin()
  }

  get canvas(): SKRSContext2D {
    return this.#canvas
  }

  get pages(): number {
    return this.#pages
  }

  /** Ends the document and returns its bytes. */
  close(): Buffer {
    this.#end()
    return this.#document.close()
  }

  /** Starts another page unless this many points are left. */
  need(height: number): void {
    if (this.y + height <= page.height - page.margin - page.foot) return
    this.#end()
    this.#canvas = this.#begin()
    const [left, right] = this.#options.running
    const small = { size: 8, color: ink.faint } as const
    this.write(left, page.margin, page.margin - 8, { ...small, widthMax: contentWidth - 120 })
    this.write(right, page.width - page.margin, page.margin - 8, { ...small, align: 'right' })
    this.y = page.margin + 8
  }

  #begin(): SKRSContext2D {
    this.#pages += 1
    const canvas = this.#document.beginPage(page.width, page.height) as SKRSContext2D
    // A ligature is one glyph for several letters, and text that is copied from the PDF would lack them.
    canvas.fontVariantLigatures = 'none'
    canvas.fillStyle = this.accent
    canvas.fillRect(0, 0, page.width, 5)
    return canvas
  }

  #end(): void {
    const { footer, pageCount } = this.#options
    const y = page.height - page.margin
    this.rule(y - 16)
    const small = { size: 7.5, color: ink.faint } as const
    const number = pageCount === undefined ? '' : `${this.#pages} / ${pageCount}`
    this.write(footer, page.margin, y, { ...small, widthMax: contentWidth - 60 })
    this.write(number, page.width - page.margin, y, { ...small, align: 'right' })
    this.#document.endPage()
  }

  rule(y: number, color: string = ink.line): void {
    this.#canvas.fillStyle = color
    this.#canvas.fillRect(page.margin, y, contentWidth, 0.6)
  }

  /** Writes one line; `y` is its base line. */
  write(text: string, x: number, y: number, style: TextStyle = {}): void {
    const { size = 9, weight = 400, color = ink.text, align = 'left', widthMax } = style
    const canvas = this.#canvas
    canvas.font = `${weight} ${size}px ${this.fonts}`
    canvas.fillStyle = color
    canvas.textAlign = align
    canvas.fillText(widthMax === undefined ? drawn(text) : this.#fit(drawn(text), widthMax), x, y)
    canvas.textAlign = 'left'
  }

  #fit(text: string, width: number): string {
    if (this.#canvas.measureText(text).width <= width) return text
    const letters = [...text]
    while (letters.length > 0 && this.#canvas.measureText(`${letters.join('')}…`).width > width) letters.pop()
    return `${letters.join('').trimEnd()}…`
  }

  /** Writes a paragraph at the left margin, and moves below it. */
  paragraph(text: string, style: TextStyle = {}): void {
    const { size = 9 } = style
    const lines: string[] = []
    this.#canvas.font = `${style.weight ?? 400} ${size}px ${this.fonts}`
    for (const word of drawn(text).split(' ')) {
      const longer = `${lines.at(-1) ?? ''} ${word}`.trim()
      if (lines.length > 0 && this.#canvas.measureText(longer).width <= contentWidth)
        lines[lines.length - 1] = longer
      else lines.push(word)
    }
    for (const line of lines) {
      this.need(size * 1.4)
      this.y += size * 1.4
      this.write(line, page.margin, this.y, { ...style, widthMax: contentWidth })
    }
  }

  /** `height`: of the content that must be on the same page as the heading. */
  heading(text: string, height: number): void {
    this.need(34 + height)
    this.y += 26
    this.write(text, page.margin, this.y, { size: 13, weight: 600 })
    this.y += 8
  }

  /** Rows of one line each; the titles are repeated on every page. */
  table(columns: readonly SheetColumn[], rows: readonly (readonly string[])[]): void {
    const titles = (): void => {
      this.#row(
        columns,
        columns.map(({ title }) => title),
        { size: 7.5, weight: 500, color: ink.faint },
      )
      this.rule(this.y, ink.faint)
    }
    this.need(3 * rowHeight)
    titles()
    for (const row of rows) {
      const pages = this.#pages
      this.need(rowHeight)
      if (this.#pages > pages) titles()
      this.#row(columns, row, { size: 8.5 })
      this.rule(this.y)
    }
    this.y += 6
  }

  #row(columns: readonly SheetColumn[], cells: readonly string[], style: TextStyle): void {
    let x: number = page.margin
    this.y += rowHeight
    for (const [at, { width, align = 'left' }] of columns.entries()) {
      const left = align === 'left' ? x : x + width
      this.write(cells[at] ?? '', left, this.y - 5.5, { ...style, align, widthMax: width - 8 })
      x += width
    }
  }
}

/** Characters that no font has are shown as a question mark, control characters as a space. */
function drawn(text: string): string {
  const clean = text
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
  return canDraw(clean) ? clean : [...clean].map((one) => (canDraw(one) ? one : '?')).join('')
}
