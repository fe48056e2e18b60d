// What to do when another customer has a name: the TXT record to create, checked from here.
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { addDomainRoute, listDomainsRoute, verifyDomainRoute } from '@pharos/contract/team/domain'
import { useMutation } from '@tanstack/react-query'
import { Fragment } from 'react'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { onlyWith, useGrant } from '../api/use-grant.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { TextLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { claimRecord, type ClaimRecord } from './claim-record.ts'
import { words } from './words.ts'
import classes from './zones.module.css'

const { claim: texts } = words
const team = { team_id: 'current' } as const

/** Renders only for the error `zone_claimed`. `onVerified` repeats the request. */
export function ClaimProof({ error, onVerified }: { error: unknown; onVerified: () => void }) {
  if (!(error instanceof ProblemError) || error.problem.code !== 'zone_claimed') return null
  const record = claimRecord(error)
  return (
    <Alert color="warn" title={texts.title}>
      {record === undefined ? (
        texts.contact
      ) : (
        <Proof key={record.value} record={record} onVerified={onVerified} />
      )}
    </Alert>
  )
}

function Proof({ record, onVerified }: { record: ClaimRecord; onVerified: () => void }) {
  const canManage = useGrant('team.manage')
  const verify = useMutation({
    mutationFn: async () => {
      const { id } = await domainOf(record.domain)
      const { body } = await call(verifyDomainRoute, { params: { ...team, domain_id: id } })
      return body
    },
    onSuccess: ({ verified }) => verified !== null && onVerified(),
    onSettled: () => invalidate(listDomainsRoute),
  })
  const { data } = verify
  return (
    <Stack gap="sm">
      <span>{texts.text}</span>
      <dl className={classes['proof']}>
        {(
          [
            [texts.name, record.name, texts.copyName],
            [texts.type, 'TXT', undefined],
            [texts.value, record.value, texts.copyValue],
          ] as const
        ).map(([label, text, copy]) => (
          <Fragment key={label}>
            <dt>{label}</dt>
            <dd data-verbatim>
              {text}
              {copy !== undefined && <CopyIcon text={text} label={copy} />}
            </dd>
          </Fragment>
        ))}
      </dl>
      {data && data.verified === null && (
        <Text size="sm" role="status">
          {texts.result[data.last_check_result ?? 'missing']}
        </Text>
      )}
      {verify.error && <Problem error={verify.error} />}
      <Group>
        {canManage ? (
          <Button loading={verify.isPending} onClick={() => verify.mutate()}>
            {texts.check}
          </Button>
        ) : (
          <Text size="sm">{onlyWith('team.manage')}</Text>
        )}
        <TextLink to="/team/domains" size="sm">
          {texts.later}
        </TextLink>
      </Group>
    </Stack>
  )
}

/** Returns the team's domain; it is added if the team does not have it. */
async function domainOf(domain: string): Promise<{ readonly id: number }> {
  const { body } = await call(listDomainsRoute, { params: team, query: { limit: 1000 } })
  const known = body.results.find((one) => one.domain === domain)
  return known ?? (await call(addDomainRoute, { params: team, body: { domain } })).body
}
