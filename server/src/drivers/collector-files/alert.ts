// Alerts of BGPalerter as JSON, as its `reportFile` writes them with `persistAlertData: true`
// (https://github.com/nttgin/BGPalerter/blob/main/docs/reports.md): `data` lists the BGP messages that caused the alert, each in
// `matchedMessage` with `type` (announcement or withdrawal), `prefix`, `peer`, `path` and `timestamp` in milliseconds.
import type { RouteUpdate } from '../../byoip/visibility/visibility-source.ts'
import { addressOf, fieldsOf, listOf, pathOf, prefixOf, timeOf } from '../collectors/fields.ts'

/** Whether the document is an alert, valid or not. */
export const isAlert = (document: unknown): boolean => Array.isArray(fieldsOf(document)?.['data'])

/** Returns the BGP messages of an alert; those that are not valid, or not BGP messages, are left out. */
export function updatesOfAlert(document: unknown, now: Date): RouteUpdate[] {
  return listOf(fieldsOf(document)?.['data']).flatMap((entry) => {
    const message = fieldsOf(fieldsOf(entry)?.['matchedMessage'])
    const update = message && updateOf(message, now)
    return update ? [update] : []
  })
}

/** Only an announcement has an origin, in `originAS` as a list of one or several (AS_SET). */
function updateOf(message: Readonly<Record<string, unknown>>, now: Date): RouteUpdate | undefined {
  const prefix = prefixOf(message['prefix'])
  const collector = addressOf(message['peer'])
  if (!prefix || collector === undefined) return undefined
  const at = timeOf(message['timestamp'], now)
  if (message['type'] === 'withdrawal') return { prefix, collector, path: null, at }
  if (message['type'] !== 'announcement') return undefined
  const path = pathOf(message['path']) ?? pathOf(message['originAS'])
  return path && { prefix, collector, path, at }
}
