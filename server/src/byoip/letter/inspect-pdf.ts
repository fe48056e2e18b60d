// Checks that staff can open a PDF: all of its objects are allowed, and all of its pages can be rendered. Runs in a
// thread only, since a hostile file could otherwise block the whole process: see letter-thread.ts.
import { letterPagesMax } from '@pharos/contract/byoip/letter'
import { damaged, type LetterRejection } from './letter-refusal.ts'
import { openPages } from './letter-pages.ts'
import { refusalOfEnds } from './pdf-ends.ts'
import { refusalOfObjects } from './pdf-objects.ts'

/** Enough to detect whether a page can be rendered. */
const sideMax = 200

export type InspectedPdf = { readonly refusal: LetterRejection } | { readonly pages: number }

export async function inspectPdf(bytes: Buffer): Promise<InspectedPdf> {
  try {
    const refusal = refusalOfEnds(bytes) ?? refusalOfObjects(new Uint8Array(bytes))
    return refusal ? { refusal } : await inspectPages(bytes)
  } catch (error) {
    // Stack overflow: by nested parentheses, brackets or page trees.
    if (error instanceof RangeError) return { refusal: { code: 'too_complex' } }
    throw error
  }
}

async function inspectPages(bytes: Buffer): Promise<InspectedPdf> {
  try {
    const pages = await openPages(bytes, 'application/pdf')
    if (pages.count === 0) return { refusal: damaged('it has no pages') }
    if (pages.count > letterPagesMax) return { refusal: { code: 'pages' } }
    for (let page = 1; page <= pages.count; page++) await pages.render(page, sideMax)
    return { pages: pages.count }
  } catch (error) {
    if ((error as Error).name === 'PasswordException') return { refusal: { code: 'encrypted' } }
    return { refusal: damaged('a page of it cannot be shown') }
  }
}
