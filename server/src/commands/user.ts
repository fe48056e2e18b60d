// `pharos user`: account operations of the operator for one user.
import { parseArgs } from 'node:util'
import { resetSecondFactor } from '../session/second-factor.ts'
import { signOutUser } from '../session/sign-out.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { withSchema } from './ready.ts'
import { parseOneArgument } from './parse-arguments.ts'

export const userCommand: Command = {
  name: 'user',
  usage: `reset-second-factor <e-mail address>
            sign-out <e-mail address>`,
  summary: `help a user who cannot sign in, and end the sessions of one

  reset-second-factor  removes the second factors, for a user who has lost the authenticator, the passkeys and the recovery
                       codes, and revokes all sessions. Make sure first that it is the user who asks: from then on the
                       password alone is enough.
  sign-out             ends every session of the user, at once and on every process. The password, the second factor
                       and API tokens stay as they are.`,
  async run(context) {
    const [verb, ...args] = context.args
    if (verb === 'reset-second-factor') return reset(context, args)
    if (verb === 'sign-out') return signOut(context, args)
    throw new UsageError(
      verb === undefined ? 'Add reset-second-factor or sign-out.' : `pharos user has no command ${verb}.`,
    )
  },
}

async function reset(context: CommandContext, args: readonly string[]): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true })
  const address = parseOneArgument(positionals, 'the e-mail address that the user signs in with')
  await withSchema(context, async ({ owner }, { secret }) => {
    const email = await resetSecondFactor(owner, secret, address)
    context.out(
      `The second factors of ${email}, passkeys included, and the recovery codes are deleted: the user signs in with the password alone.\n` +
        'All sessions of the user were revoked. The user is notified by mail. Teams that require a second factor are ' +
        'not accessible to the user until one is enabled again.\n',
    )
  })
}

async function signOut(context: CommandContext, args: readonly string[]): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true })
  const address = parseOneArgument(positionals, 'the e-mail address that the user signs in with')
  await withSchema(context, async ({ owner }) => {
    const email = await signOutUser(owner, address)
    context.out(`All sessions of ${email} were revoked.\n`)
  })
}
