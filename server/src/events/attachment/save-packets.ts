// Stores the packets of an attack that the collector has kept, as files of its event: some minutes after the start, and at the end. Several
// collectors may have some; the first that has any writes the file.
import { createHash } from 'node:crypto'
import { eventFilesMax } from '@pharos/contract/events/event-attachment'
import type { Db } from '../../db/postgres.ts'
import { countEventFiles, insertEventFile, listEventFiles, lockEventFiles } from './event-attachment.store.ts'

export { listOpenEvents, type OpenEvent } from './save-packets.store.ts'

export type EventPart = 'start' | 'end'

export type EventPackets = { readonly eventId: string; readonly part: EventPart; readonly file: Uint8Array }

/** Returns whether it was stored: each part once, and not beyond the files of an event. */
export function saveEventPackets(db: Db, { eventId, part, file }: EventPackets): Promise<boolean> {
  const filename = `sflow-${part}.pcap`
  return db.transaction().execute(async (trx) => {
    await lockEventFiles(trx, eventId)
    const bytes = Buffer.from(file)
    const sha256 = createHash('sha256').update(bytes).digest()
    const stored = { filename, kind: 'pcap', mediaType: 'application/vnd.tcpdump.pcap', bytes } as const
    const files = await listEventFiles(trx, eventId, null, ['pcap'])
    if (files.some((one) => one.filename === filename)) return false
    const { ofEvent } = await countEventFiles(trx, '', eventId, stored, sha256)
    if (ofEvent >= eventFilesMax) return false
    await insertEventFile(trx, {
      ...stored,
      eventId,
      teamId: null,
      sha256,
      description:
        part === 'start' ? 'Sampled packets of the first minutes' : 'Sampled packets before the end',
      createdBy: 'pharos',
    })
    return true
  })
}
