// `pharos drain` and `pharos undrain`: takes a router of a region out of service and back.
import { parseArgs } from 'node:util'
import type { AdminRegion } from '@pharos/contract/operator/region'
import { checkFreshMs, setDrained } from '../byoip/regions/router.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { withSchema } from './ready.ts'

const usage = '<region> <router>'

export const drain: Command = {
  name: 'drain',
  usage,
  summary: `withdraw Pharos' routes from one router before maintenance

Each route is withdrawn once enough other routers of the region carry it; nothing is withdrawn from these. Refused if they
could not carry the routes. The router's name is in the platform file; with a single router it is that of the region.`,
  run: (context) => change(context, true),
}

export const undrain: Command = {
  name: 'undrain',
  usage,
  summary: 'announce our routes on a drained router again',
  run: (context) => change(context, false),
}

async function change(context: CommandContext, isDrained: boolean): Promise<void> {
  const { positionals } = parseArgs({ args: [...context.args], options: {}, allowPositionals: true })
  const [slug, name, ...rest] = positionals
  if (slug === undefined || name === undefined || rest.length > 0)
    throw new UsageError('Name a region and one of its routers.')
  await withSchema(context, async ({ owner }, config) => {
    const deps = {
      db: owner,
      freshMs: checkFreshMs(config.reconcileIntervalSeconds),
      now: () => new Date(),
    }
    context.out(described(await setDrained(deps, { actor: 'operator' }, { slug, name }, isDrained)))
  })
}

function described({ slug, routers }: AdminRegion): string {
  const lines = routers.map(
    ({ name, drained }) => `  ${name}  ${drained ? `drained since ${drained}` : 'in service'}\n`,
  )
  return `region ${slug}\n${lines.join('')}`
}
