// The API tokens of a member who is about to be removed: they are revoked, or moved to a service account first.
import { List as Items, Text } from '@mantine/core'
import { listTokensRoute, transferTokenRoute } from '@pharos/contract/team/token'
import { call } from '../api/call.ts'
import { useAnswer } from '../api/queries.ts'
import { Problem } from '../ui/problem.tsx'
import { words } from './words.ts'

const { member: t } = words

const queryOf = (userId: number) => ({ created_by: userId, limit: 1000, ordering: 'name' }) as const

/** Shows their names: a program of each stops. */
export function MemberTokens({ userId }: { readonly userId: number }) {
  const { data, error, refetch } = useAnswer(listTokensRoute, { query: queryOf(userId) })
  if (error && !data) return <Problem error={error} retry={refetch} />
  if (!data || data.count === 0) return null
  return (
    <>
      <Text size="sm">{t.tokensOf(data.count)}</Text>
      <Items size="sm">
        {data.results.map(({ id, name }) => (
          <Items.Item key={id}>{name}</Items.Item>
        ))}
      </Items>
    </>
  )
}

/** Moves the tokens of a member to a service account, one by one; the first that is refused ends it. */
export async function moveTokens(userId: number, serviceAccountId: number): Promise<void> {
  const { body } = await call(listTokensRoute, { query: queryOf(userId) })
  for (const { id } of body.results)
    await call(transferTokenRoute, {
      params: { token_id: id },
      body: { service_account_id: serviceAccountId },
    })
}
