// Mails as files in a folder, for the demo and for inspection. A mail is written completely or not at all, and a repeated one
// replaces the first. Only the own user may read them: links in them sign users in.
import { randomUUID } from 'node:crypto'
import { mkdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { MailMessage, MailTransport } from '../../mail/mail-transport.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { replaceFile } from '../../runtime/files.ts'
import { composeMail } from './compose.ts'

/** Creates the folder with the first mail. */
export function createFolderTransport(path: string): MailTransport {
  const folder = resolve(path)
  let closed = false
  return {
    name: `folder ${folder}`,
    async send(message) {
      const { bytes } = await composeMail(message)
      if (closed) throw new DriverError('unreachable', `folder ${folder}: closed`)
      const file = join(folder, fileName(message))
      try {
        await makeFolder(folder)
        // A power failure must not leave an incomplete mail either.
        await replaceFile(file, bytes, { suffix: `${randomUUID()}.part`, isDurable: true })
      } catch (error) {
        throw asDriverError(folder, error as Error)
      }
      return file
    },
    async close() {
      closed = true
    },
  }
}

/** `2026-01-31T12-00-00Z-<id>.eml`: in the order in which they were written. */
function fileName({ date, id }: MailMessage): string {
  return `${date.toISOString().slice(0, 19).replaceAll(':', '-')}Z-${id}.eml`
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // An existing folder keeps its mode, which may be intentional.
  const mode = (await stat(folder)).mode & 0o777
  if (mode & 0o077) throw new Error(`other users have access to it (mode ${mode.toString(8)}); run chmod 700`)
}

function asDriverError(folder: string, error: Error): DriverError {
  return new DriverError('unreachable', `folder ${folder}: ${error.message}`, { cause: error })
}
