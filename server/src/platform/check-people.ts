// Checks teams, users and memberships of the operator's file, and makes them entries.
import { given, type CheckContext } from './check-context.ts'
import { publishedPassword } from '../session/demo.ts'
import { objectionToPassword } from '../session/password-policy.ts'
import type { Element } from './schema.ts'

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
  const { password, email, demo = false } = user
  const wrong = password === undefined ? undefined : passwordProblem(password, email, demo)
  if (wrong !== undefined) context.problem([...path, 'password'], wrong)
}

/** What is wrong with a password, wherever it came from: by the policy that users choose theirs by. */
export function passwordProblem(password: string, email: string, isDemo: boolean): string | undefined {
  if (password === publishedPassword) {
    return isDemo ? undefined : 'this password is published; take another one, or say demo: true'
  }
  const objection = objectionToPassword(password, { email, names: ['pharos'] })
  return objection && `the password ${objection.msg}`
}
