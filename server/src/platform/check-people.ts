// Checks teams, users and memberships of the operator's file, and makes them entries.
import { given, type CheckContext } from './check-context.ts'
import type { Element } from './schema.ts'

/** The password of the demo platform stands in the documentation: it is for demo accounts only. */
export const publishedPassword = 'pharos-demo-password'

const passwordLength = { least: 12, most: 128 }

export function checkTeams(context: CheckContext): void {
  for (const { index, element } of context.shaped.written.teams) {
    const { slug, name, modules, enable_dns, enable_sdwan } = element
    const sorted = modules?.toSorted()
    const fields = { name, ...given({ modules: sorted, enable_dns, enable_sdwan }) }
    context.add({ kind: 'team', key: slug, fields, path: ['teams', index] }, `team ${slug}`)
  }
}

export function checkUsers(context: CheckContext): void {
  for (const { index, element } of context.shaped.written.users) {
    const path = ['users', index]
    const { teams, password: text, password_file: file, email, ...rest } = element
    const key = email.toLowerCase()
    checkPassword(context, path, element, context.current.user.has(key))
    if (text !== undefined) context.credentials.push({ kind: 'user', key, path: [...path, 'password'], text })
    else if (file !== undefined) {
      context.credentials.push({ kind: 'user', key, path: [...path, 'password_file'], file })
    }
    context.add({ kind: 'user', key, fields: { email, ...given(rest) }, path }, `user ${email}`)
    for (const [at, membership] of (teams ?? []).entries()) {
      const where = [...path, 'teams', at]
      const { team, admin } = membership
      context.refer('teams', team, [...where, 'team'])
      const fields = { team, user: key, ...given({ admin }) }
      context.add(
        { kind: 'membership', key: `${team} ${key}`, fields, path: where },
        `team ${team} of ${email}`,
      )
    }
  }
}

function checkPassword(
  context: CheckContext,
  path: readonly (string | number)[],
  user: Element<'users'>,
  exists: boolean,
): void {
  const ways = (['password', 'password_hash', 'password_file'] as const).filter(
    (way) => user[way] !== undefined,
  )
  if (ways.length > 1) context.problemAtKey([...path, ways[1]!], `give ${ways.join(' or ')}, not both`)
  if (ways.length === 0 && !exists) {
    context.problem(path, `user ${user.email} is new and needs a password, password_file or password_hash`)
  }
  const wrong = user.password === undefined ? undefined : passwordProblem(user.password, user.demo ?? false)
  if (wrong !== undefined) context.problem([...path, 'password'], wrong)
}

/** What is wrong with a password, wherever it came from. */
export function passwordProblem(password: string, isDemo: boolean): string | undefined {
  const { least, most } = passwordLength
  if (password.length < least || password.length > most) {
    return `the password has ${password.length} characters; it needs ${least} to ${most}`
  }
  if (password === publishedPassword && !isDemo) {
    return 'this password is published; take another one, or say demo: true'
  }
  return undefined
}
