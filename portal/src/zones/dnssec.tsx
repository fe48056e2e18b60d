// DNSSEC of a zone: progress and next step, DS records for the registrar, DS records at the parent, keys.
import { Skeleton, Stack, Table, Text } from '@mantine/core'
import { getDnssecRoute, type Dnssec, type DnssecKey } from '@pharos/contract/dns/dnssec'
import type { Zone } from '@pharos/contract/dns/zone'
import { useAnswer } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { CopyBlock, CopyIcon } from '../ui/copy.tsx'
import { Empty } from '../ui/empty.tsx'
import { Facts } from '../ui/facts.tsx'
import { isForPeople } from '../ui/person-text.ts'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { StateIcon } from '../ui/task-row.tsx'
import { Time, WithTimes } from '../ui/time.tsx'
import { CancelDisable, DisableDnssec, EnableDnssec, RollOver } from './dnssec-actions.tsx'
import { digOf } from './dig.ts'
import { dsParts, stepsOf, type StepState } from './dnssec-steps.ts'
import { words } from './words.ts'
import classes from './zones.module.css'

const { dnssecPage: texts } = words

export function DnssecTab({ zone }: { zone: Zone }) {
  const canManage = useGrant('dns.manage')
  const answer = useAnswer(
    getDnssecRoute,
    { params: { zone: String(zone.id) } },
    { refetchInterval: zone.dnssec === 'signing' ? 2_000 : 15_000 },
  )
  if (answer.error && !answer.data) return <Problem error={answer.error} retry={() => answer.refetch()} />
  if (!answer.data) return <Skeleton height={320} radius="lg" />
  const dnssec = answer.data
  if (dnssec.status === 'disabled')
    return (
      <Empty title={texts.offTitle}>
        <Stack align="center">
          {zone.kind === 'secondary' ? texts.offSecondary : texts.offText}
          {canManage && zone.kind === 'primary' && <EnableDnssec zone={zone} />}
        </Stack>
      </Empty>
    )
  return (
    <Stack>
      <Steps zone={zone} dnssec={dnssec} />
      <NextStep zone={zone} dnssec={dnssec} canManage={canManage} />
      {dnssec.status !== 'pending_disabled' && <DsRecords zone={zone} dnssec={dnssec} />}
      <Parent zone={zone} dnssec={dnssec} />
      <Keys keys={dnssec.keys} />
      <Section title={texts.facts}>
        <Facts
          facts={[
            [texts.denial, dnssec.nsec3 ? texts.nsec3Fact : texts.nsec],
            [texts.cdsFact, dnssec.cds_published ? texts.yes : texts.no],
            [texts.nextRollover, <Time key="next" at={dnssec.next_rollover} none={texts.onRequest} />],
          ]}
        />
      </Section>
    </Stack>
  )
}

const stepColors: Readonly<Record<StepState, StateColor>> = {
  done: 'ok',
  now: 'info',
  next: 'idle',
  warn: 'warn',
  bad: 'bad',
}

type PartProps = { zone: Zone; dnssec: Dnssec }

function Steps({ zone, dnssec }: PartProps) {
  const steps = stepsOf(dnssec, zone.status === 'ok')
  if (steps.length === 0) return null
  return (
    <ol className={classes['steps']} aria-label={texts.steps}>
      {steps.map(({ name, text, state, at }) => (
        <li key={name} className={classes['step']} data-state={state}>
          <StateIcon color={stepColors[state]} text={texts.stepState[state]} />
          <div>
            <div className={classes['stepName']}>{name}</div>
            <div className={classes['stepText']}>
              {text} {at !== undefined && <Time at={at} />}
            </div>
          </div>
        </li>
      ))}
    </ol>
  )
}

type NextProps = PartProps & { canManage: boolean }

function NextStep({ zone, dnssec, canManage }: NextProps) {
  const { status, reason, unsigned_after: after } = dnssec
  const text = reason === null ? texts.nothing : isForPeople(reason) ? reason : texts.reasonUnknown
  return (
    <Section
      title={texts.reason}
      actions={
        canManage &&
        (status === 'pending_disabled' ? (
          <CancelDisable zone={zone} />
        ) : (
          <>
            {(status === 'active' || status === 'pending_ds') && <RollOver zone={zone} />}
            <DisableDnssec zone={zone} />
          </>
        ))
      }
    >
      <Text size="sm">
        <WithTimes text={text} />
      </Text>
      {after !== null && <Facts facts={[[texts.unsignedAfter, <Time key="after" at={after} />]]} />}
    </Section>
  )
}

function DsRecords({ zone, dnssec: { ds_records: records, publish_after: after } }: PartProps) {
  const lines = records.map((rdata) => `${zone.name}. IN DS ${rdata}`)
  return (
    <Section
      title={texts.dsTitle}
      actions={lines.length > 0 && <CopyIcon text={lines.join('\n')} label={texts.copyAllDs} />}
    >
      <Text size="sm" c="dimmed">
        {records.length === 0 ? (
          texts.dsNone
        ) : after === null ? (
          texts.dsText
        ) : (
          <>
            {texts.dsEarly} <Time at={after} />. {texts.dsWhy}
          </>
        )}
      </Text>
      {records.map((rdata) => (
        <DsRecord key={rdata} rdata={rdata} />
      ))}
    </Section>
  )
}

function DsRecord({ rdata }: { rdata: string }) {
  const { keyTag, algorithm, digestType, digest } = dsParts(rdata)
  return (
    <dl className={classes['ds']} data-ds>
      {(
        [
          [texts.keyTag, keyTag],
          [texts.dsAlgorithm, algorithm],
          [texts.digestType, digestType],
        ] as const
      ).map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      <div className={classes['digest']}>
        <dt>{texts.digest}</dt>
        <dd>
          {digest} <CopyIcon text={rdata} label={texts.copyDs} />
        </dd>
      </div>
    </dl>
  )
}

function Parent({ zone, dnssec: { parent } }: PartProps) {
  return (
    <Section
      title={texts.parent}
      note={
        parent.ds_present === null ? (
          <StatePill color="idle">
            {parent.checked === null ? texts.parentUnknown : texts.parentSilent}
          </StatePill>
        ) : !parent.ds_present ? (
          <StatePill color="idle">{texts.parentNone}</StatePill>
        ) : parent.ds_matches === true ? (
          <StatePill color="ok">{texts.parentMatches}</StatePill>
        ) : (
          <StatePill color="bad">{texts.parentDiffers}</StatePill>
        )
      }
    >
      {parent.ds_records.map((rdata) => (
        <DsRecord key={rdata} rdata={rdata} />
      ))}
      <Facts
        facts={[[texts.parentChecked, <Time key="at" at={parent.checked} none={texts.parentUnknown} />]]}
      />
      <CopyBlock text={digOf({ name: zone.name, type: 'DS', options: ['+short'] })} label={texts.copyDig} />
    </Section>
  )
}

const Keys = ({ keys }: { keys: readonly DnssecKey[] }) => (
  <Section title={texts.keys} flush>
    <Table.ScrollContainer minWidth={620}>
      <Table aria-label={texts.keys}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.keyTag}</Table.Th>
            <Table.Th>{texts.state}</Table.Th>
            <Table.Th>{texts.use}</Table.Th>
            <Table.Th>{texts.algorithm}</Table.Th>
            <Table.Th>{texts.created}</Table.Th>
            <Table.Th>{texts.publicKey}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map(({ id, key_tag: tag, state, keytype, algorithm, created, dnskey, managed }) => (
            <Table.Tr key={id ?? `other-${tag}`}>
              <Table.Td className={classes['ttl']!}>{tag}</Table.Td>
              <Table.Td>
                <StatePill color={state === 'active' ? 'ok' : 'info'}>{texts.keyState[state]}</StatePill>
              </Table.Td>
              <Table.Td>
                {texts.keyTypes[keytype]}
                {!managed && <div className={classes['comment']}>{texts.otherSigner}</div>}
              </Table.Td>
              <Table.Td>{texts.algorithmNames[algorithm] ?? algorithm}</Table.Td>
              <Table.Td>
                <Time at={created} />
              </Table.Td>
              <Table.Td>
                <CopyIcon text={dnskey} label={texts.copyKey(tag)} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  </Section>
)
