// Renders the letter of authorization that a team signs, in a separate thread.
import { createPdfDrawer, type PdfDrawer } from '../../runtime/draw-pdf.ts'
import type { LetterText } from './letter-draft-page.ts'

export type Drafter = PdfDrawer<LetterText>

export const createDrafter = (): Drafter =>
  createPdfDrawer(new URL('letter-draft-thread.ts', import.meta.url))
