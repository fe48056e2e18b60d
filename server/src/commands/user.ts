// `pharos user`: account operations of the operator for one user.
import { parseArgs } from 'node:util'
import { counted } from '@pharos/contract/counted'
import { exportAccountOf } from '../session/account-export.ts'
import { deleteAccountOf } from '../session/delete-account.ts'
import { resetSecondFactor } from '../session/second-factor.ts'
import { signOutUser } from '../session/sign-out.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { withSchema } from './ready.ts'
import { parseOneArgument } from './parse-arguments.ts'

export const userCommand: Command = {
  name: 'user',
  usage: `reset-second-factor <e-mail address>
            sign-out <e-mail address>
            export <e-mail address>
            delete <e-mail address> [--dry-run] [--force]`,
  summary: `help a user who cannot sign in, end the sessions of one, export or delete an account

  reset-second-factor  removes the second factors, for a user who has lost the authenticator, the passkeys and the recovery
                       codes, and revokes all sessions. Make sure first that it is the user who asks: from then on the
                       password alone is enough.
  sign-out             ends every session of the user, at once and on every process. The password, the second factor
                       and API tokens stay as they are.
  export               prints what is stored about the account as JSON, without secrets.
  delete               deletes the account with its sessions, API tokens, passkeys and memberships, and erases its addresses
                       in the audit log; a mail confirms it. It cannot be undone: --dry-run prints what would go. --force
                       deletes the last admin of a team too.`,
  async run(context) {
    const [verb, ...args] = context.args
    if (verb === 'reset-second-factor') return reset(context, args)
    if (verb === 'sign-out') return signOut(context, args)
    if (verb === 'export') return exportUser(context, args)
    if (verb === 'delete') return deleteUser(context, args)
    throw new UsageError(
      verb === undefined
        ? 'Add reset-second-factor, sign-out, export or delete.'
        : `pharos user has no command ${verb}.`,
    )
  },
}

const addressOf = (positionals: readonly string[]): string =>
  parseOneArgument(positionals, 'the e-mail address that the user signs in with')

const parseAddress = (args: readonly string[]): string =>
  addressOf(parseArgs({ args: [...args], options: {}, allowPositionals: true }).positionals)

async function reset(context: CommandContext, args: readonly string[]): Promise<void> {
  const address = parseAddress(args)
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
  const address = parseAddress(args)
  await withSchema(context, async ({ owner }) => {
    const email = await signOutUser(owner, address)
    context.out(`All sessions of ${email} were revoked.\n`)
  })
}

async function exportUser(context: CommandContext, args: readonly string[]): Promise<void> {
  const address = parseAddress(args)
  await withSchema(context, async ({ owner }) => {
    context.out(`${JSON.stringify(await exportAccountOf(owner, address), null, 2)}\n`)
  })
}

async function deleteUser(context: CommandContext, args: readonly string[]): Promise<void> {
  const { positionals, values } = parseArgs({
    args: [...args],
    options: { 'dry-run': { type: 'boolean', default: false }, force: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const address = addressOf(positionals)
  const dryRun = values['dry-run']
  await withSchema(context, async ({ owner }, { secret }) => {
    const deleted = await deleteAccountOf(owner, secret, address, { dryRun, force: values.force })
    const { email, user_id: id, teams, sessions, passkeys, identities, isManaged } = deleted
    const tokens = teams.reduce((sum, { api_tokens_revoked: revoked }) => sum + revoked, 0)
    const parts = [
      counted(sessions, 'session'),
      counted(tokens, 'API token'),
      counted(passkeys, 'passkey'),
      counted(identities, 'linked identity', 'linked identities'),
    ]
    const names = teams.map(({ name }) => name).join(', ') || 'none'
    const managed = `The platform file manages the account: remove it there, or the next pharos apply creates it again.\n`
    context.out(
      `${dryRun ? 'Would delete' : 'Deleted'} ${email} (user ${id}) with ${parts.join(', ')}; teams: ${names}.\n${isManaged ? managed : ''}`,
    )
  })
}
