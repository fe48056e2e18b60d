// `pharos secrets`: lists which keys of the ring are still needed, and seals all values under the newest one.
import { counted } from '@pharos/contract/counted'
import { parseArgs } from 'node:util'
import { agentKeys } from '../byoip/regions/handed-routes.ts'
import { countSealed, resealAll } from '../db/reseal.ts'
import { CommandFailure, UsageError, type Command, type CommandContext } from './command.ts'
import { withSchema } from './ready.ts'

export const secrets: Command = {
  name: 'secrets',
  usage: 'list | reseal | agent-key',
  summary: `move encrypted values to the newest key of PHAROS_SECRET

  list       counts the values under the newest key, under an older one, and under a key that is not in the ring
  reseal     seals values under an older key again; can run beside Pharos, and more than once
  agent-key  shows the public keys of \`pharos agent --key\`, without the database

  An older key can be removed from the ring once all processes use the new one, no value is under an older one, and values
  of which only a MAC is stored have been used: see docs/operating/rotate-keys.md.`,
  async run(context) {
    const [verb, ...args] = context.args
    parseArgs({ args: [...args], options: {} })
    if (verb === 'list') return list(context)
    if (verb === 'reseal') return reseal(context)
    if (verb === 'agent-key') return context.out(`${agentKeys(context.config().secret).join(',')}\n`)
    throw new UsageError(
      verb === undefined ? 'Add list, reseal or agent-key.' : `pharos secrets has no command ${verb}.`,
    )
  },
}

async function list(context: CommandContext): Promise<void> {
  await withSchema(context, async ({ owner }, { secret }) => {
    for (const { noun, newest, older, unknown } of await countSealed(owner, secret))
      context.out(`${noun}: ${newest} newest key, ${older} older, ${unknown} unknown\n`)
  })
}

async function reseal(context: CommandContext): Promise<void> {
  await withSchema(context, async ({ owner }, { secret }) => {
    const { resealed, failed } = await resealAll(owner, secret)
    context.out(`${counted(resealed, 'value was', 'values were')} resealed.\n`)
    for (const { noun, name, error } of failed.slice(0, 20))
      context.out(`not opened: ${noun}, ${name}: ${error}\n`)
    if (failed.length > 0)
      throw new CommandFailure(`${counted(failed.length, 'value')} could not be decrypted.`)
  })
}
