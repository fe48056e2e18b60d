// The text and the page of a letter of authorization to sign. Pure: the date is handed in, and the same words give the
// same bytes. Loaded in its thread only: see letter-draft.ts.
import { PDFDocument, StandardFonts, type PDFFont, type PDFPage } from '@cantoo/pdf-lib'

export type LetterText = {
  readonly prefix: string
  readonly originAsn: number
  readonly teamName: string
  readonly providerName: string
  /** Who signs; empty for a line to fill in. */
  readonly signatory: string
  readonly date: Date
}

/** A4, in points. */
const page = { width: 595.28, height: 841.89, margin: 72 } as const
const textWidth = page.width - 2 * page.margin
const blank = '_'.repeat(36)
const nameMax = 200

/** The letter as a PDF of one page. */
export async function drawLetter(text: LetterText): Promise<Uint8Array> {
  const document = await PDFDocument.create({ updateMetadata: false })
  const plain = await document.embedFont(StandardFonts.Helvetica)
  const bold = await document.embedFont(StandardFonts.HelveticaBold)
  document.setTitle(`Letter of authorization for ${text.prefix}`)
  document.setCreationDate(text.date)
  document.setModificationDate(text.date)
  const written = createWriter(document.addPage([page.width, page.height]))
  for (const { words, size = 11, strong = false, gap = 10 } of paragraphsOf(text, plain))
    written(words, strong ? bold : plain, size, gap)
  return document.save()
}

type Paragraph = {
  readonly words: string
  readonly size?: number
  readonly strong?: boolean
  readonly gap?: number
}

function paragraphsOf(text: LetterText, font: PDFFont): Paragraph[] {
  const named = (name: string) => setIn(font, name) ?? blank
  const [team, provider, signatory] = [text.teamName, text.providerName, text.signatory].map(named)
  return [
    { words: 'Letter of authorization', size: 20, strong: true, gap: 24 },
    { words: `Date: ${dayOf(text.date)}` },
    { words: `To: ${provider}`, gap: 24 },
    {
      words:
        `${team} holds the address block named below, or acts for its holder, and authorizes ${provider} to announce ` +
        'it to the Internet by BGP, with the origin named below, from its own network and through its transit ' +
        'providers and peers.',
      gap: 20,
    },
    { words: `Prefix: ${text.prefix}`, strong: true, gap: 6 },
    { words: `Origin: AS${text.originAsn}`, strong: true, gap: 20 },
    { words: `Valid until: ${blank}`, gap: 6 },
    { words: '(without a date: until it is withdrawn in writing)', size: 9, gap: 20 },
    {
      words:
        'Whoever signs confirms to be entitled to give this authorization. Other networks may rely on it when they ' +
        'accept the announcement.',
      gap: 48,
    },
    { words: `Signature: ${blank}`, gap: 20 },
    { words: `Name: ${signatory}`, gap: 20 },
    { words: `Position: ${blank}`, gap: 20 },
    { words: `For: ${team}`, gap: 20 },
    { words: `Place and date: ${blank}` },
  ]
}

const dayOf = (date: Date): string => date.toISOString().slice(0, 10)

/**
 * A name in letters that the typeface has: as it is, or without accents. Undefined when it is in another script; a name
 * of question marks on a legal paper would be worse than a line.
 */
export function setIn(font: Pick<PDFFont, 'getCharacterSet'>, name: string): string | undefined {
  const known = new Set(font.getCharacterSet())
  const fits = (text: string) => [...text].every((character) => known.has(character.codePointAt(0)!))
  const clean = [
    ...name
      .normalize('NFC')
      .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
      .trim(),
  ]
    .slice(0, nameMax)
    .join('')
  const bare = clean.normalize('NFKD').replace(/\p{Mn}/gu, '')
  return [clean, bare].find((text) => text !== '' && fits(text))
}

/** Writes paragraphs from the top down. */
function createWriter(sheet: PDFPage): (words: string, font: PDFFont, size: number, gap: number) => void {
  let y = page.height - page.margin
  return (words, font, size, gap) => {
    for (const line of linesOf(words, font, size)) {
      y -= size * 1.35
      sheet.drawText(line, { x: page.margin, y, size, font })
    }
    y -= gap
  }
}

/** Words that are wider than the page are cut. */
function linesOf(words: string, font: PDFFont, size: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of words.split(' ').flatMap((one) => piecesOf(one, font, size))) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && font.widthOfTextAtSize(longer, size) > textWidth) {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}

function piecesOf(word: string, font: PDFFont, size: number): string[] {
  const pieces: string[] = ['']
  for (const character of word) {
    const longer = pieces.at(-1)! + character
    if (font.widthOfTextAtSize(longer, size) <= textWidth) pieces[pieces.length - 1] = longer
    else pieces.push(character)
  }
  return pieces
}
