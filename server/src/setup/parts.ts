// Wires the first run: its operations, the setup code that a process prints when it starts, and whether the portal leads to it.
import type { Mounted } from '../http/mount.ts'
import type { ApiShared, Parts, Shared } from '../process/shared.ts'
import { ClientLimiter } from '../runtime/client-limiter.ts'
import { readSetupCode } from './first-account.ts'
import { firstRunRoutes } from './setup.routes.ts'
import { findSetupOpen } from './setup.store.ts'

export function routes(shared: ApiShared): Mounted[] {
  const { config } = shared
  const perMinute = config.signInLimitPerMinute
  return firstRunRoutes({
    ...shared,
    ...shared.newPasswords,
    db: shared.front,
    sendsMail: config.mailUrl !== null || config.mailFolder !== null,
    attempts: new ClientLimiter({ perSecond: perMinute / 60, burst: perMinute }),
  })
}

export const parts = (shared: Shared): Parts => ({
  api: () => [{ name: 'setup code', start: () => printSetupCode(shared) }],
})

/** A database that does not answer is no reason not to start: `pharos setup-code` prints the code later. */
async function printSetupCode({ owner, ring, publicUrl, log }: Shared): Promise<void> {
  try {
    const setup = await readSetupCode(owner, ring)
    if (setup)
      log.warn(
        { url: `${publicUrl}/setup`, setup_code: setup.code, expires: setup.expires },
        'no account exists: create the first one with the setup code',
      )
  } catch (error) {
    log.warn({ err: error }, 'setup code not printed')
  }
}

const openMs = 1_000

/** Whether browsers are led to the setup. Once it is closed, no request asks again; unknown counts as closed. */
export function createSetupTest({ front }: Pick<Shared, 'front'>): () => Promise<boolean> {
  let open: Promise<boolean> | undefined
  return () => {
    open ??= findSetupOpen(front).then(
      (isOpen) => {
        if (isOpen) setTimeout(() => (open = undefined), openMs).unref()
        return isOpen
      },
      () => {
        open = undefined
        return false
      },
    )
    return open
  }
}
