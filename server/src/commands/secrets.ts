// `pharos secrets`: which keys of the ring are still needed, and everything that is sealed under the newest.
import { parseArgs } from 'node:util'
import { countSealed, resealAll } from '../db/reseal.ts'
import { CommandFailure, UsageError, type Command, type CommandContext } from './command.ts'
import { withSchema } from './ready.ts'

export const secrets: Command = {
  name: 'secrets',
  usage: 'list | reseal',
  summary: `move what is encrypted to the newest key of PHAROS_SECRET

  list    how much is sealed under the newest key, under an older one, and under none of the ring
  reseal  seals what is under an older key anew; Pharos may run meanwhile, and it may be run again

  An older key can leave the ring once all processes have the new one first, nothing is under an older one, and what is
  known only by a MAC has moved by being used: see "Keys and their rotation" in docs/operating.md.`,
  async run(context) {
    const [verb, ...args] = context.args
    parseArgs({ args: [...args], options: {} })
    if (verb === 'list') return list(context)
    if (verb === 'reseal') return reseal(context)
    throw new UsageError(verb === undefined ? 'Say list or reseal.' : `There is no secrets ${verb}.`)
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
    context.out(`${resealed} values were sealed anew.\n`)
    for (const { noun, name, error } of failed.slice(0, 20))
      context.out(`not opened: ${noun}, ${name}: ${error}\n`)
    if (failed.length > 0) throw new CommandFailure(`${failed.length} values do not open.`)
  })
}
