// `pharos region gone`: gives up a former router whose hardware is gone.
import { giveUpAs } from '../byoip/regions/former-router.ts'
import { UsageError, type Command } from './command.ts'
import { parseInteger, parseOneArgument } from './parse-arguments.ts'
import { withSchema } from './ready.ts'

export const regionCommand: Command = {
  name: 'region',
  usage: 'gone <id>',
  summary: `give up a former router that will never answer

A router that the platform file no longer names, or names with another address or owner, stays a former router until it was
read empty twice; pharos status lists them with their ids. Its prefixes count as withdrawn from now on. If it still runs, its
routes stay announced.`,
  async run(context) {
    const [verb, ...args] = context.args
    if (verb !== 'gone')
      throw new UsageError(verb === undefined ? 'Add gone.' : `pharos region has no command ${verb}.`)
    const id = parseInteger(
      'id',
      parseOneArgument(args, 'the id of a former router: pharos status'),
      1,
      2 ** 31 - 1,
    )
    await withSchema(context, async ({ owner }) => {
      const { region: slug, name, router } = await giveUpAs({ db: owner }, { actor: 'operator' }, id)
      context.out(`The former router ${slug}/${name} (${router}) is given up.\n`)
    })
  },
}
