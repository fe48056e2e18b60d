// Runs a command as main.ts would, on a test's database. Only tests import this file.
import type { TestDatabase } from '../db/testing.ts'
import type { Files } from '../runtime/config.ts'
import { readConfiguration } from './configuration.ts'
import { createKeyRing } from '../runtime/secrets.ts'
import type { Command } from './command.ts'

const secret = 'a-secret-of-at-least-thirty-two-bytes'
export const testRing = createKeyRing([secret])

const noFiles: Files = {
  read: () => undefined,
  mode: () => 0o600,
  create: () => {},
}

/** Returns the output of the command; throws its errors. */
export async function runCommand(
  database: TestDatabase,
  command: Command,
  ...args: readonly string[]
): Promise<string> {
  let printed = ''
  const env = { DATABASE_URL: database.databaseUrl, PHAROS_SECRET: secret, PHAROS_LOG_LEVEL: 'silent' }
  await command.run({
    args,
    env,
    config: (from = env) => readConfiguration(from, noFiles),
    out: (text) => void (printed += text),
  })
  return printed
}
