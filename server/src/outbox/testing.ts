// Messages for tests of the readers of the outbox. Not imported by the product.
import type { MessageType } from '@pharos/contract/messages/webhook-message'
import type { Db, Trx } from '../db/postgres.ts'
import { writeMessages } from './outbox.ts'

/** Writes a message whose data need not match the type, in its own transaction. */
export async function addMessage(db: Db, teamId: number, data: object, type?: MessageType): Promise<void> {
  await db.transaction().execute((trx) => addMessageIn(trx, teamId, data, type))
}

export async function addMessageIn(
  trx: Trx,
  teamId: number,
  data: object,
  type: MessageType = 'event.started',
): Promise<void> {
  await writeMessages(trx, [{ teamId, type, data } as never])
}
