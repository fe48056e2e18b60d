// `pharos staff`: gives staff their rights back when their identity provider signs nobody in.
import { openStaff } from '../identity/open-staff.ts'
import { UsageError, type Command } from './command.ts'
import { withSchema } from './ready.ts'

export const staffCommand: Command = {
  name: 'staff',
  usage: 'sign-in optional',
  summary: `give staff their rights without their identity provider

Sets staff_sign_in.required to false: staff have their rights with their passwords and passkeys. The next pharos apply of a file
with required: true requires the identity provider again.`,
  async run(context) {
    const [verb, policy, ...rest] = context.args
    if (verb !== 'sign-in' || policy !== 'optional' || rest.length > 0)
      throw new UsageError('Use pharos staff sign-in optional.')
    await withSchema(context, async ({ owner }) => {
      const isChanged = await openStaff(owner)
      context.out(
        isChanged
          ? 'Staff have their rights without their identity provider, until pharos apply requires it again.\n'
          : 'The identity provider of staff was not required. No change.\n',
      )
    })
  },
}
