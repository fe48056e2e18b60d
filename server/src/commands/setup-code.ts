// `pharos setup-code`: the code with which the first account of an installation is created.
import { publicUrl } from '../runtime/config.ts'
import { readSetupCode } from '../setup/first-account.ts'
import { CommandFailure, rejectArguments, type Command } from './command.ts'
import { withSchema } from './ready.ts'

export const setupCode: Command = {
  name: 'setup-code',
  usage: '',
  summary: `print the code that creates the first account

  A new installation has no account. The portal asks for this code and creates the account of the operator with it. The code is valid
  for 24 hours and works once; after that the command prints another one. It ends with exit code 1 once there is an account.`,
  async run(context) {
    rejectArguments(context)
    await withSchema(context, async ({ owner }, config) => {
      const setup = await readSetupCode(owner, config.secret)
      if (!setup)
        throw new CommandFailure(
          'The installation has an account, or its database was restored: there is no setup code. Add users with pharos apply.',
        )
      const { code, expires } = setup
      context.out(
        `${code}\n\nOpen ${publicUrl(config)}/setup and enter it. It expires ${expires.toISOString()}.\n`,
      )
    })
  },
}
