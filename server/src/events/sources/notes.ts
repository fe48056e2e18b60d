// Collects the notes of one delivery during parsing: an invalid detail is skipped and noted, an invalid item of a batch
// does not affect the others.
import type { NoteAttrs, NoteSeverity, StoredNote } from '@pharos/contract/events/delivery-note'
import { cleanText } from '../event/json.ts'
import { NormaliseError } from './source.ts'
import type { Notes } from './source.ts'

/** Maximum number of notes that are kept for a delivery. */
const notesMax = 100
const placeMax = 500

export function createNotes(receivedAt: Date): Notes {
  const kept: Record<NoteSeverity, StoredNote[]> = { error: [], warning: [], info: [] }
  let count = 0
  let errors = 0
  const add: Notes['add'] = (severity, place, code, attrs = {}) => {
    count++
    if (severity === 'error') errors++
    if (kept[severity].length === notesMax) return
    kept[severity].push({ severity, code, place: cleanText(place, placeMax), attrs: cleanAttrs(attrs) })
  }
  const tolerant = <T, U>(severity: NoteSeverity, read: () => T, otherwise: U): T | U => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof NormaliseError)) throw error
      add(severity, error.place, error.code, error.attrs)
      return otherwise
    }
  }
  return {
    receivedAt,
    add,
    optional: (read) => tolerant('warning', read, undefined),
    item: (read) => tolerant('error', read, []),
    get errors() {
      return errors
    },
    list() {
      const all = [...kept.error, ...kept.warning, ...kept.info]
      if (count <= notesMax) return all
      const listed = all.slice(0, notesMax - 1)
      const attrs = { count: count - listed.length }
      return [...listed, { severity: 'info', code: 'notes_truncated', place: '', attrs }]
    },
  }
}

const attrMax = 1_000

/** Attributes may contain text of the sender. */
function cleanAttrs(attrs: NoteAttrs): NoteAttrs {
  const cleaned = Object.entries(attrs).map(([name, value]) => [
    name,
    typeof value === 'string' ? cleanText(value, attrMax) : value,
  ])
  return Object.fromEntries(cleaned) as NoteAttrs
}
