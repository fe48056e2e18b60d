// Tells a GoBGP 4.x daemon from something else that does not speak 3.x, for the sake of a clear error only.
import { create } from '@bufbuild/protobuf'
import { DriverError } from '../../runtime/driver-error.ts'
import type { GobgpClient } from './client.ts'
import { GetBgpRequestSchema, GoBgpService } from './generated/gobgp4_pb.js'

/** Rejects when the daemon cannot be asked. */
export async function isGobgp4(client: GobgpClient, deadline: Date): Promise<boolean> {
  try {
    await client.unary(GoBgpService.method.getBgp, create(GetBgpRequestSchema), deadline)
    return true
  } catch (error) {
    // It knows the method and refuses the call: still 4.x. Not knowing it is what tells.
    if (error instanceof DriverError && error.kind !== 'unreachable') return error.kind === 'refused'
    throw error
  }
}
