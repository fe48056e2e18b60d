// Wires the stream of messages: its operation, which listens to the outbox.
import type { Mounted } from '../http/mount.ts'
import type { ApiShared } from '../process/shared.ts'
import { createOutboxListener } from './outbox-listener.ts'
import { streamRoutes } from './stream.routes.ts'

export function routes({ postgres, front, waker, log, metrics, attach }: ApiShared): Mounted[] {
  const outboxListener = createOutboxListener({ db: front, waker, log, metrics })
  attach({ name: 'outbox', start: () => outboxListener.start(), stop: () => outboxListener.stop() })
  return streamRoutes({ postgres, db: front, outboxListener })
}
