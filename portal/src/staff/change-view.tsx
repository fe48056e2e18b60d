// A request whose changes are paused: the requester, the changes by region, where the prefixes stay announced, and the reason.
import { Stack, Table, Text } from '@mantine/core'
import { listAnnouncementsOfTeamRoute, type Announcement } from '@pharos/contract/byoip/announcement'
import { ProblemError } from '@pharos/contract/client'
import { useQuery } from '@tanstack/react-query'
import { answerOf } from '../api/queries.ts'
import { Mono } from '../ui/cells.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/form.tsx'
import { Facts } from '../ui/facts.tsx'
import { TextLink } from '../ui/link.tsx'
import { notifyFailure } from '../ui/notify.ts'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { decideApproval, noteField, type NoteValues } from './note.ts'
import { decisionProps } from './decision.tsx'
import { Effects } from './effects.tsx'
import { refreshInbox } from './inbox-rows.ts'
import { askedBy, changeText, teamNameOf } from './request-text.ts'
import { regionsIn, remainingIn, type ChangeRequest, type RequestPrefix } from './requests.ts'
import { listed, words } from './words.ts'
import classes from './staff.module.css'

const { change: t } = words

export function ChangeView({ request }: { request: ChangeRequest }) {
  const announced = useAnnounced(request)
  const { team, asked, paused, prefixes, approvals, others } = request
  return (
    <Stack gap="md">
      <Section
        title={changeText(request)}
        actions={
          <>
            <Decide request={request} announced={announced} kind="approve" />
            <Decide request={request} announced={announced} kind="reject" />
          </>
        }
      >
        <div className={classes['facts']}>
          <Facts
            facts={[
              [t.customer, team ? <CustomerLink key="team" team={team} /> : t.noTeam],
              [t.asked, askedBy(request)],
              [t.askedAt, asked === null ? undefined : <Time key="asked" at={asked} />],
              [t.paused, <Time key="paused" at={paused} />],
            ]}
          />
        </div>
        <Text size="sm" mt="xs">
          {t.meanwhile}
        </Text>
        <Text size="sm">{others.length > 0 ? t.alsoCovers(othersText(request)) : t.notShared}</Text>
      </Section>
      {prefixes.length > 0 && <Prefixes request={request} announced={announced} />}
      <Section title={t.why}>
        <Stack gap="sm">
          {[...Map.groupBy(approvals, ({ detail }) => detail)].map(([detail, same]) => (
            <div key={detail}>
              <Text size="sm">{detail}</Text>
              <div className={classes['small']}>
                {t.inRegions(same.length)} {same.map(({ region }) => region).join(', ')}
              </div>
            </div>
          ))}
        </Stack>
      </Section>
    </Stack>
  )
}

type PrefixesProps = {
  readonly request: ChangeRequest
  readonly announced: ReadonlyMap<string, readonly string[]> | undefined
}

function Prefixes({ request, announced }: PrefixesProps) {
  const { prefixes, isPartial } = request
  const hasChanges = regionsIn(request, 'changedIn').length > 0
  return (
    <Section title={t.section} flush>
      <div className={classes['scroll']} tabIndex={0} role="group" aria-label={t.prefixes}>
        <Table fz="sm" className={classes['table']!}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.prefix}</Table.Th>
              <Table.Th>{t.withdrawnIn}</Table.Th>
              {hasChanges && <Table.Th>{t.changedIn}</Table.Th>}
              <Table.Th>{t.staysIn}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {prefixes.map((prefix) => (
              <Table.Tr key={prefix.cidr}>
                <Table.Td>
                  <Mono>{prefix.cidr}</Mono>
                </Table.Td>
                <Table.Td>{prefix.withdrawnIn.join(', ')}</Table.Td>
                {hasChanges && <Table.Td>{prefix.changedIn.join(', ')}</Table.Td>}
                <Table.Td>
                  <Remaining regions={remainingIn(prefix, announced?.get(prefix.cidr))} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      {isPartial && (
        <Text size="xs" c="dimmed" p="sm">
          {t.partial}
        </Text>
      )}
    </Section>
  )
}

export const CustomerLink = ({ team }: { team: { readonly id: number; readonly name: string } }) => (
  <TextLink to="/staff/customers/$id" params={{ id: String(team.id) }} size="sm">
    {team.name}
  </TextLink>
)

function Remaining({ regions }: { regions: readonly string[] | undefined }) {
  if (!regions) return <StatePill color="idle">{words.unknown}</StatePill>
  if (regions.length === 0) return <StatePill color="warn">{t.nowhere}</StatePill>
  return regions.join(', ')
}

/** The API takes as many prefixes as fit into an address; beyond them the remaining regions are unknown. */
const askedMax = 60

/** Returns the regions that announce each prefix now; undefined until they are known. */
function useAnnounced({ team, prefixes }: ChangeRequest): ReadonlyMap<string, readonly string[]> | undefined {
  const cidr = prefixes.slice(0, askedMax).map((one) => one.cidr)
  const { data } = useQuery({
    ...answerOf(listAnnouncementsOfTeamRoute, {
      params: { team_id: team?.id ?? 0 },
      query: { cidr, include: 'region_states', limit: 1000 },
    }),
    enabled: team !== null && cidr.length > 0,
    refetchInterval: 30_000,
  })
  if (!data) return undefined
  return new Map(data.results.map((one) => [one.cidr, announcedIn(one)]))
}

const announcedIn = ({ region_states: states = [] }: Announcement): readonly string[] =>
  states.filter(({ state }) => state === 'announced' || state === 'withdrawing').map(({ region }) => region)

type DecideProps = {
  readonly request: ChangeRequest
  readonly announced: ReadonlyMap<string, readonly string[]> | undefined
  readonly kind: 'approve' | 'reject'
}

function Decide({ request, announced, kind }: DecideProps) {
  const isApproval = kind === 'approve'
  const name = teamNameOf(request)
  return (
    <Dialog
      title={isApproval ? t.approveTitle(name) : t.rejectTitle(name)}
      {...decisionProps(isApproval)}
      danger={isApproval}
      {...noteField}
      onSubmit={(values) => decide(request, isApproval, values)}
    >
      {(_fields, form) => (
        <>
          <Effects
            confirms
            texts={isApproval ? effectsOf(request, announced) : [t.rejection, ...alsoOf(request)]}
          />
          <Field form={form} name="note" />
        </>
      )}
    </Dialog>
  )
}

const alsoOf = (request: ChangeRequest): readonly string[] =>
  request.others.length > 0 ? [t.alsoCovers(othersText(request))] : []

const othersText = ({ others }: ChangeRequest): string =>
  listed(others.map((one) => t.prefixesOf(one.prefixes, teamNameOf(one))))

function effectsOf(
  request: ChangeRequest,
  announced: ReadonlyMap<string, readonly string[]> | undefined,
): readonly string[] {
  const { prefixes } = request
  const withdrawn = prefixes.filter(({ withdrawnIn }) => withdrawnIn.length > 0)
  const changed = prefixes.filter(({ changedIn }) => changedIn.length > 0)
  const isGone = (one: RequestPrefix) => remainingIn(one, announced?.get(one.cidr))?.length === 0
  const gone = withdrawn.filter(isGone).map(({ cidr }) => cidr)
  return [
    ...(withdrawn.length > 0
      ? [t.withdraws(withdrawn.length, listed(regionsIn(request, 'withdrawnIn'), 8))]
      : []),
    ...(gone.length > 0 ? [t.gone(listed(gone))] : []),
    ...(changed.length > 0 ? [t.changes(changed.length, listed(regionsIn(request, 'changedIn'), 8))] : []),
    ...alsoOf(request),
    t.approval,
  ]
}

/** Decides region by region. A region whose changes have differed since stays open, and is named. */
async function decide({ approvals }: ChangeRequest, isApproval: boolean, values: NoteValues): Promise<void> {
  try {
    for (const { id, region } of approvals)
      try {
        await decideApproval(id, isApproval, values)
      } catch (error) {
        if (!(error instanceof ProblemError && error.problem.status === 409)) throw error
        notifyFailure(t.failed(region))
      }
  } finally {
    await refreshInbox()
  }
}
