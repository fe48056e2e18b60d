// Builds the portal of a checkout from its sources, in a separate process, so that the demo is prepared at the same
// time. A release contains the built portal without this script.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CommandFailure } from './command.ts'

const scripts = fileURLToPath(new URL('../../../scripts/', import.meta.url))

/** Resolves when the portal is built; skips an up-to-date build. */
export async function buildPortal(): Promise<void> {
  const script = `${scripts}build-portal.mjs`
  if (!existsSync(script)) return
  // It ends with this process.
  const child = spawn(process.execPath, ['--import', `${scripts}end-with-parent.mjs`, script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [status] = (await once(child, 'exit')) as [number | null]
  if (status !== 0) throw new CommandFailure('The portal could not be built; see above.')
}
