// HTTP route of the stream.
import { followStreamRoute, type StreamMessageType } from '@pharos/contract/messages/stream'
import { handleStream, type Mounted } from '../http/mount.ts'
import { followStream as follow, type StreamDeps } from './follow-stream.ts'

export const streamRoutes = (deps: StreamDeps): Mounted[] => [
  handleStream(followStreamRoute, ({ actor }, { query }, follows) =>
    follow(deps, actor, query.type as StreamMessageType[] | undefined, follows),
  ),
]
