// `pharos team`: opens a team whose members cannot sign in.
import { openSignIn } from '../identity/sign-in-policy.ts'
import { UsageError, type Command } from './command.ts'
import { parseOneArgument } from './parse-arguments.ts'
import { withSchema } from './ready.ts'

export const teamCommand: Command = {
  name: 'team',
  usage: 'sign-in <slug> optional',
  summary: `open a team whose identity provider signs nobody in

Sets the sign-in policy of the team to optional: its members sign in with their passwords and passkeys again. For a team without
recovery codes. Make sure first that an admin of the team asks; all admins get a mail.`,
  async run(context) {
    const [verb, ...args] = context.args
    if (verb !== 'sign-in')
      throw new UsageError(verb === undefined ? 'Add sign-in.' : `pharos team has no command ${verb}.`)
    if (args.at(-1) !== 'optional')
      throw new UsageError('End with optional: stricter policies are set in the portal.')
    const slug = parseOneArgument(args.slice(0, -1), 'the slug of a team')
    await withSchema(context, async ({ owner }, { secret }) => {
      const { name, isChanged } = await openSignIn(owner, secret, slug)
      context.out(
        isChanged
          ? `The sign-in policy of ${name} is optional. Its admins are notified by mail.\n`
          : `The sign-in policy of ${name} was optional before. No change.\n`,
      )
    })
  },
}
