// `pharos user`: what the operator does for the account of one user, by hand.
import { parseArgs } from 'node:util'
import { resetSecondFactor } from '../session/second-factor.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { withSchema } from './ready.ts'
import { oneWord } from './words.ts'

export const user: Command = {
  name: 'user',
  usage: 'reset-second-factor <e-mail address>',
  summary: `help a user who cannot sign in

  reset-second-factor  turns the second factor off, for who has lost the authenticator and the recovery codes. Make
                       sure first that it is the user who asks: from then on the password alone is enough.`,
  async run(context) {
    const [verb, ...args] = context.args
    if (verb === 'reset-second-factor') return reset(context, args)
    throw new UsageError(verb === undefined ? 'Say reset-second-factor.' : `pharos user knows no ${verb}.`)
  },
}

async function reset(context: CommandContext, args: readonly string[]): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true })
  const address = oneWord(positionals, 'the e-mail address that the user signs in with')
  await withSchema(context, async ({ owner }, { secret }) => {
    const email = await resetSecondFactor(owner, secret, address)
    context.out(
      `The second factor of ${email} is off, and the recovery codes are gone: the password alone signs in.\n` +
        'Sessions that are open stay open. The user is told by mail; teams that require a second factor are closed ' +
        'to the user until there is one again.\n',
    )
  })
}
