// The last sign-ins of an identity provider that failed: why, and the names of the claims.
import { Text } from '@mantine/core'
import { signInReasonText } from '@pharos/contract/sign-in-reason'
import { listSignInAttemptsRoute, type Provider } from '@pharos/contract/team/provider'
import { useAnswer } from '../api/queries.ts'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import classes from './team.module.css'
import { words } from './words.ts'

const { provider: t } = words

const shown = 10

export function ProviderAttempts({ provider: { id } }: { readonly provider: Provider }) {
  const answer = useAnswer(listSignInAttemptsRoute, {
    params: { team_id: 'current', provider_id: id },
    query: { limit: shown },
  })
  return (
    <section className={classes['part']}>
      <h4>{t.attempts}</h4>
      {answer.error && !answer.data && <Problem error={answer.error} retry={answer.refetch} />}
      {answer.data?.count === 0 && (
        <Text size="xs" c="dimmed">
          {t.noAttempts}
        </Text>
      )}
      {answer.data?.results.map(({ id: attempt, at, reason, claims, request_id: request }) => (
        <div key={attempt}>
          <Text size="sm">
            <Time at={at} /> · <code>{reason}</code> · {t.told(signInReasonText(reason))}
          </Text>
          <Text size="xs" c="dimmed">
            {t.request(request)}
            {claims.length > 0 && (
              <>
                {' '}
                · {t.claims} <code>{claims.join(', ')}</code>
              </>
            )}
          </Text>
        </div>
      ))}
    </section>
  )
}
