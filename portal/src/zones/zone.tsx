// One zone: its records, DNSSEC, who serves it, import and export, settings, history.
import { Alert, Menu, Skeleton, Tabs } from '@mantine/core'
import { useClipboard, useDisclosure } from '@mantine/hooks'
import { ProblemError } from '@pharos/contract/client'
import { getZoneRoute, type Zone } from '@pharos/contract/dns/zone'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { answerOf } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { Facts } from '../ui/facts.tsx'
import { TextLink } from '../ui/link.tsx'
import { Columns, Page } from '../ui/page.tsx'
import { PageMenu } from '../ui/page-menu.tsx'
import { isForPeople } from '../ui/person-text.ts'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { Ago } from '../ui/task-row.tsx'
import { Time, WithTimes } from '../ui/time.tsx'
import { UnsavedGuard } from '../ui/unsaved-guard.tsx'
import { usePageSearch } from '../ui/use-page-search.ts'
import { DeleteZone } from './delete-zone.tsx'
import { DeletedZone } from './deleted-zone.tsx'
import { DnssecTab } from './dnssec.tsx'
import { digOf } from './dig.ts'
import { exportZone } from './export.ts'
import { History } from './history.tsx'
import { ImportTab } from './import.tsx'
import { Records } from './records.tsx'
import { ServersTab } from './servers.tsx'
import { ZoneSettingsTab } from './settings.tsx'
import { tabsOfZone, type ZoneTab } from './tabs.ts'
import { unicodeName } from './unicode-name.ts'
import { useRecordDrafts } from './use-record-drafts.ts'
import { words } from './words.ts'
import { zoneInclude } from './zone-queries.ts'
import { DnssecPill, servedText, ZoneStatusPill } from './zone-state.tsx'
import classes from './zones.module.css'

const { head: texts } = words

const isNotFound = (error: unknown) => error instanceof ProblemError && error.problem.code === 'not_found'

export function ZonePage() {
  const { id } = useParams({ from: '/frame/zones/$id' })
  const answer = useQuery({
    ...answerOf(getZoneRoute, { params: { zone: id }, query: { include: zoneInclude } }),
    refetchInterval: ({ state }) =>
      !isNotFound(state.error) && (state.data?.status === 'updating' ? 1_500 : 10_000),
  })
  const isGone = isNotFound(answer.error)
  const deleted = useQuery({
    ...answerOf(getZoneRoute, { params: { zone: id }, query: { include: zoneInclude, deleted: true } }),
    enabled: isGone,
  })
  if (isGone && deleted.data) return <DeletedZone zone={deleted.data} />
  if (answer.error && !deleted.isFetching && (!answer.data || isGone))
    return (
      <Page title={words.title}>
        <Problem error={answer.error} retry={() => answer.refetch()} />
        <TextLink to="/zones" size="sm">
          {words.all}
        </TextLink>
      </Page>
    )
  if (!answer.data || isGone)
    return (
      <Page title={words.title}>
        <Skeleton height={72} radius="lg" />
        <Skeleton height={320} radius="lg" />
      </Page>
    )
  return <Shown key={answer.data.id} zone={answer.data} />
}

function Shown({ zone }: { zone: Zone }) {
  const { search, setSearch } = usePageSearch('/zones/$id')
  const tab: ZoneTab = tabsOfZone.find((one) => one === search.tab) ?? 'records'
  const setTab = (next: string | null) => setSearch({ tab: tabsOfZone.find((one) => one === next) })
  // Here, so that a look at another tab does not lose them.
  const drafts = useRecordDrafts(String(zone.id))
  return (
    <Page
      title={zone.name}
      mono
      state={
        <>
          <ZoneStatusPill status={zone.status} />
          <DnssecPill
            state={zone.dnssec}
            label={zone.dnssec === 'disabled' ? texts.unsigned : texts.signed(words.dnssec[zone.dnssec])}
          />
        </>
      }
      note={<Summary zone={zone} />}
      actions={<Actions zone={zone} />}
    >
      <UnsavedGuard isUnsaved={() => drafts.changed > 0} />
      <Messages zone={zone} />
      <Tabs value={tab} onChange={setTab} keepMounted={false}>
        <Tabs.List>
          {tabsOfZone.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {one === 'records' && drafts.changed > 0
                ? words.tabs.recordsChanged(drafts.changed)
                : words.tabs[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {/* The table needs the whole width. */}
        <Tabs.Panel value="records" pt="md">
          <Records zone={zone} drafts={drafts} />
        </Tabs.Panel>
        {tabsOfZone
          .filter((one): one is Exclude<ZoneTab, 'records'> => one !== 'records')
          .map((one) => (
            <Tabs.Panel key={one} value={one} pt="md">
              <Columns
                rail={
                  <>
                    <ZoneFacts zone={zone} />
                    <RegistrarFacts zone={zone} />
                  </>
                }
              >
                <Content tab={one} zone={zone} />
              </Columns>
            </Tabs.Panel>
          ))}
      </Tabs>
    </Page>
  )
}

function Content({ tab, zone }: { tab: Exclude<ZoneTab, 'records'>; zone: Zone }) {
  switch (tab) {
    case 'dnssec':
      return <DnssecTab zone={zone} />
    case 'servers':
      return <ServersTab zone={zone} />
    case 'import':
      return <ImportTab zone={zone} />
    case 'settings':
      return <ZoneSettingsTab zone={zone} />
    case 'history':
      return <History zone={zone} />
  }
}

/** An internationalized name in its own letters. */
function UnicodeName({ name }: { name: string }) {
  const shown = unicodeName(name)
  return shown === undefined ? null : (
    <>
      <span data-verbatim>{shown}</span>
      {' · '}
    </>
  )
}

/** What matters most, in one line: the table of records leaves no room for the facts. */
const Summary = ({ zone }: { zone: Zone }) => (
  <>
    <UnicodeName name={zone.name} />
    {zone.kind === 'secondary' && `${texts.secondary} · `}
    {zone.published === null ? words.list.notPublished : texts.servedBy(servedText(zone))}
    {zone.serial !== null && ` · ${texts.serial(zone.serial)} · `}
    {zone.published !== null && (
      <>
        {texts.published} <Ago at={zone.published} />
      </>
    )}
  </>
)

/** Renders only problems. */
function Messages({ zone }: { zone: Zone }) {
  const { status, state_messages: messages = [] } = zone
  const ofAliases = messages.find(({ tag }) => tag === 'zone_aliases_failing')
  const wrong = messages.filter(({ severity }) => severity === 'error')
  const sentences = wrong.map(({ message }) => message).filter(isForPeople)
  const tag = wrong[0]?.tag ?? ''
  const isNotDelegated = messages.some((one) => one.tag === 'zone_not_delegated')
  return (
    <>
      {status === 'pending_verification' && (
        <Alert color="warn" title={texts.claimedTitle}>
          {texts.claimed}
        </Alert>
      )}
      {status === 'error' && (
        <Alert color="bad" title={texts.errorTitles[tag] ?? texts.errorTitle}>
          {sentences.map((text) => (
            <div key={text}>
              <WithTimes text={text} />
            </div>
          ))}
          <div>{texts.next[tag] ?? texts.nextOther}</div>
        </Alert>
      )}
      {ofAliases && (
        <Alert color="warn" title={texts.aliasesTitle}>
          <WithTimes text={ofAliases.message} />
        </Alert>
      )}
      {isNotDelegated && (
        <Alert color="info" title={texts.notDelegatedTitle}>
          {texts.notDelegated} <span data-verbatim>{forRegistrar(zone).join(', ')}</span>
        </Alert>
      )}
    </>
  )
}

function Actions({ zone }: { zone: Zone }) {
  const canManage = useGrant('dns.manage')
  const clipboard = useClipboard()
  const [deleting, { open, close }] = useDisclosure(false)
  return (
    <>
      <PageMenu label={texts.more} width={220}>
        <Menu.Item onClick={() => clipboard.copy(zone.name)}>{texts.copy}</Menu.Item>
        <Menu.Item onClick={() => clipboard.copy(forRegistrar(zone).join('\n'))}>
          {words.facts.copyServers}
        </Menu.Item>
        <Menu.Item onClick={() => clipboard.copy(digOf({ name: zone.name, type: 'SOA' }))}>
          {texts.copyDig}
        </Menu.Item>
        <Menu.Item onClick={() => void exportZone(zone)}>{texts.export}</Menu.Item>
        {canManage && (
          <>
            <Menu.Divider />
            <Menu.Item color="bad" onClick={open}>
              {texts.remove}
            </Menu.Item>
          </>
        )}
      </PageMenu>
      <DeleteZone zone={zone} opened={deleting} onClose={close} />
    </>
  )
}

function ZoneFacts({ zone }: { zone: Zone }) {
  const { facts } = words
  const primaries = zone.details?.primaries ?? []
  return (
    <Section title={facts.title}>
      <Facts
        facts={[
          [facts.served, zone.published === null ? null : (servedText(zone) ?? words.list.noServers)],
          [facts.serial, zone.serial === null ? null : String(zone.serial)],
          [facts.records, zone.record_count.toLocaleString('en')],
          [facts.kind, words.kind[zone.kind]],
          [facts.primaries, primaries.map(({ address }) => address).join(', ')],
          [facts.published, <Time key="published" at={zone.published} none={words.list.notPublished} />],
          [facts.changed, <Time key="changed" at={zone.touched} />],
          [facts.created, <Time key="created" at={zone.created} />],
          [facts.id, String(zone.id)],
        ]}
      />
    </Section>
  )
}

/** Most registrars reject the dot at the end of a name. */
const forRegistrar = ({ nameservers }: Zone): string[] =>
  nameservers.assigned.map((name) => name.replace(/\.$/, ''))

function RegistrarFacts({ zone }: { zone: Zone }) {
  const { facts } = words
  const { delegation_status, delegation_last_check } = zone.nameservers
  const assigned = forRegistrar(zone)
  return (
    <Section
      title={facts.serverTitle}
      actions={<CopyIcon text={assigned.join('\n')} label={facts.copyServers} />}
    >
      <ul className={classes['names']} data-verbatim>
        {assigned.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
      <Facts
        facts={[
          [facts.delegation, words.delegation[delegation_status]],
          [facts.checked, <Time key="checked" at={delegation_last_check} none={facts.never} />],
        ]}
      />
    </Section>
  )
}
