// The text and the pages of a letter of authorization to sign. The date is a parameter, and the same text results in the same
// bytes. Loaded in its thread only: see letter-draft.ts.
import { PDFDocument, type SKRSContext2D } from '@napi-rs/canvas'
import { canDraw, loadFonts } from '../../text/pdf-fonts.ts'

export type LetterText = {
  readonly teamName: string
  readonly provider: { readonly name: string; readonly asn: number }
  readonly prefixes: readonly LetterPrefix[]
  /** The signer, their contact and their handle in a registry; an empty value becomes a line to fill in. */
  readonly signatory: string
  readonly contact: string
  readonly registryHandle: string
  readonly date: Date
}

export type LetterPrefix = {
  readonly prefix: string
  readonly originAsn: number
  /** Objects that the checks found, such as `ROA 203.0.113.0/24, maxLength 24, AS64496`. */
  readonly roa: string
  readonly routeObject: string
}

/** A4, in points. */
const page = { width: 595.28, height: 841.89, margin: 72 } as const
const textWidth = page.width - 2 * page.margin
const blank = '_'.repeat(36)
const nameMax = 200

type Paragraph = {
  readonly words: string
  readonly size?: number
  readonly bold?: boolean
  readonly gap?: number
  /** Starts a new page if less space is left, in points. */
  readonly keep?: number
}

/** Renders the letter as a PDF. */
export function drawLetter(text: LetterText): Buffer {
  const paragraphs = paragraphsOf(text)
  const fonts = loadFonts(paragraphs.map(({ words }) => words).join(' '))
  const document = new PDFDocument({
    title: `Letter of authorization for ${text.prefixes.map(({ prefix }) => prefix).join(', ')}`,
    creator: 'Pharos',
  })
  let sheet = addPage(document)
  let y: number = page.margin
  for (const { words, size = 11, bold = false, gap = 10, keep = 0 } of paragraphs) {
    if (y + keep > page.height - page.margin) y = page.height
    sheet.font = `${bold ? 700 : 400} ${size}px ${fonts}`
    for (const line of linesOf(words, sheet)) {
      if (y + size * 1.35 > page.height - page.margin) {
        document.endPage()
        sheet = addPage(document)
        sheet.font = `${bold ? 700 : 400} ${size}px ${fonts}`
        y = page.margin
      }
      y += size * 1.35
      sheet.fillText(line, page.margin, y)
    }
    y += gap
  }
  document.endPage()
  return document.close()
}

function addPage(document: PDFDocument): SKRSContext2D {
  const sheet = document.beginPage(page.width, page.height) as SKRSContext2D
  // A ligature is one glyph for several letters, and text that is copied from the PDF would lack them.
  sheet.fontVariantLigatures = 'none'
  return sheet
}

function paragraphsOf(text: LetterText): Paragraph[] {
  const [team, provider, signatory, contact, handle] = [
    text.teamName,
    text.provider.name,
    text.signatory,
    text.contact,
    text.registryHandle,
  ].map((name) => drawable(name) ?? blank)
  const asn = `AS${text.provider.asn}`
  return [
    { words: 'Letter of authorization', size: 20, bold: true, gap: 20 },
    { words: `Date: ${dayOf(text.date)}`, gap: 4 },
    { words: `From: ${team}`, gap: 4 },
    { words: `To: ${provider} (${asn})`, gap: 20 },
    {
      words:
        `${team} holds the IP prefixes listed below, or is authorized by their holder, and authorizes ${provider} ` +
        `(${asn}) to announce them to the internet by BGP with the origin ASN listed for each, from its own network ` +
        'and through its transit providers and peers.',
      gap: 16,
    },
    ...text.prefixes.flatMap(({ prefix, originAsn, roa, routeObject }): Paragraph[] => [
      { words: `${prefix}, origin AS${originAsn}`, bold: true, gap: 2, keep: 60 },
      { words: `RPKI: ${roa}`, size: 9, gap: 2 },
      { words: `IRR: ${routeObject}`, size: 9, gap: 10 },
    ]),
    { words: `Valid until: ${blank}`, gap: 4 },
    { words: 'If no date is given, this letter is valid until it is revoked in writing.', size: 9, gap: 14 },
    {
      words:
        'The signer confirms that they are entitled to give this authorization. Other networks may rely on it when ' +
        'they accept the announcements.',
      gap: 40,
      keep: 300,
    },
    { words: `Signature: ${blank}`, gap: 14 },
    { words: `Name: ${signatory}`, gap: 14 },
    { words: `Position: ${blank}`, gap: 14 },
    { words: `Contact: ${contact}`, gap: 14 },
    { words: `Registry handle: ${handle}`, gap: 14 },
    { words: `For: ${team}`, gap: 14 },
    { words: `Place and date: ${blank}` },
  ]
}

const dayOf = (date: Date): string => date.toISOString().slice(0, 10)

/**
 * Returns a name if the fonts can render it; undefined if they lack a character: on a legal document, a line to fill in
 * by hand is better than a replacement character.
 */
export function drawable(name: string): string | undefined {
  const clean = name
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  const short = [...clean].slice(0, nameMax).join('')
  return short !== '' && canDraw(short) ? short : undefined
}

/** Words that are wider than the page are truncated. */
function linesOf(words: string, sheet: SKRSContext2D): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of words.split(' ').flatMap((one) => piecesOf(one, sheet))) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && widthOf(longer, sheet) > textWidth) {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}

function piecesOf(word: string, sheet: SKRSContext2D): string[] {
  if (widthOf(word, sheet) <= textWidth) return [word]
  const pieces: string[] = ['']
  for (const { segment } of new Intl.Segmenter().segment(word)) {
    const longer = pieces.at(-1)! + segment
    if (widthOf(longer, sheet) <= textWidth) pieces[pieces.length - 1] = longer
    else pieces.push(segment)
  }
  return pieces
}

const widthOf = (text: string, sheet: SKRSContext2D): number => sheet.measureText(text).width
