// One identity provider of the team, with what an admin does next.
import { Button, Switch, Text } from '@mantine/core'
import { listDomainsRoute } from '@pharos/contract/team/domain'
import {
  deleteProviderRoute,
  listProvidersRoute,
  listSignInAttemptsRoute,
  testProviderRoute,
  updateProviderRoute,
  type Provider,
} from '@pharos/contract/team/provider'
import { getTeamSignInRoute } from '@pharos/contract/team/sign-in'
import { useMutation } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { beginProviderTest } from '../api/single-sign-on.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextLink } from '../ui/link.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { EditProvider } from './edit-provider.tsx'
import { ProviderAttempts } from './provider-attempts.tsx'
import { ProviderMappings } from './provider-mappings.tsx'
import { Provisioning } from './provisioning.tsx'
import classes from './team.module.css'
import { words } from './words.ts'

const { provider: t } = words

type ProviderProps = { readonly provider: Provider }

const paramsOf = ({ id }: Provider) => ({ team_id: 'current', provider_id: id }) as const

const colors: Readonly<Record<Provider['status'], StateColor>> = {
  draft: 'warn',
  active: 'ok',
  disabled: 'idle',
}

export function ProviderRow({ provider }: ProviderProps) {
  const { name, status, problem, tested } = provider
  return (
    <li>
      <div className={classes['rowHead']}>
        <h3 className={classes['rowName']}>{name}</h3>
        <StatePill color={colors[status]}>{t.statuses[status]}</StatePill>
        {problem !== null && <StatePill color="bad">{t.problems[problem]}</StatePill>}
        <div className={classes['rowActions']}>
          <TestButton provider={provider} />
          <ChangeStatus provider={provider} />
          <EditProvider provider={provider} />
          <DeleteProvider provider={provider} />
        </div>
      </div>
      {status === 'draft' && (
        <p className={classes['who']}>{tested === null ? t.steps.test : t.steps.activate}</p>
      )}
      <dl className={classes['record']}>
        {provider.kind === 'saml' ? <SamlRecord provider={provider} /> : <OidcRecord provider={provider} />}
      </dl>
      <Domains provider={provider} />
      <ProviderMappings provider={provider} />
      <Provisioning provider={provider} />
      <ProviderAttempts provider={provider} />
      <div className={classes['rowFoot']}>
        <Text size="xs" c="dimmed">
          {t.tested} <Time at={tested} none={t.never} />
        </Text>
      </div>
    </li>
  )
}

type OfKind<Kind extends Provider['kind']> = { readonly provider: Extract<Provider, { kind: Kind }> }

const OidcRecord = ({ provider: { sp, issuer, client_id: clientId } }: OfKind<'oidc'>) => (
  <>
    <dt>{t.redirectUri}</dt>
    <dd>
      {sp.redirect_uri}
      <CopyIcon text={sp.redirect_uri} label={t.copyRedirectUri} />
    </dd>
    <dt>{t.logoutUri}</dt>
    <dd>
      {sp.backchannel_logout_uri}
      <CopyIcon text={sp.backchannel_logout_uri} label={t.copyLogoutUri} />
    </dd>
    <dt>{t.signedOutUri}</dt>
    <dd>
      {sp.post_logout_redirect_uri}
      <CopyIcon text={sp.post_logout_redirect_uri} label={t.copySignedOutUri} />
    </dd>
    <dt>{t.issuer}</dt>
    <dd>{issuer}</dd>
    <dt>{t.clientId}</dt>
    <dd>{clientId}</dd>
  </>
)

const SamlRecord = ({ provider }: OfKind<'saml'>) => (
  <>
    <dt>{t.acsUrl}</dt>
    <dd>
      {provider.sp.acs_url}
      <CopyIcon text={provider.sp.acs_url} label={t.copyAcsUrl} />
    </dd>
    <dt>{t.ourEntityId}</dt>
    <dd>
      {provider.sp.entity_id}
      <CopyIcon text={provider.sp.entity_id} label={t.copyOurEntityId} />
    </dd>
    <dt>{t.entityId}</dt>
    <dd>{provider.entity_id}</dd>
    <dt>{t.certificates}</dt>
    <dd>
      {t.certificatesUntil(provider.certificates.length)} <Time at={provider.certificates_expire} />
    </dd>
  </>
)

function TestButton({ provider }: ProviderProps) {
  const test = useMutation({
    mutationFn: async () =>
      (await call(testProviderRoute, { params: paramsOf(provider), body: {} })).body.redirect,
    onSuccess: (redirect) => {
      beginProviderTest(provider.id)
      location.assign(redirect!)
    },
    onError: async (error) => {
      notifyProblem(error)
      await invalidate(listSignInAttemptsRoute)
    },
  })
  return (
    <Button
      variant="default"
      aria-label={t.testOf(provider.name)}
      loading={test.isPending}
      onClick={() => test.mutate()}
    >
      {t.test}
    </Button>
  )
}

function ChangeStatus({ provider }: ProviderProps) {
  const { name, status } = provider
  const isActive = status === 'active'
  const action = isActive ? t.disable : t.activate
  return (
    <Dialog
      title={isActive ? t.disableTitle(name) : t.activateTitle(name)}
      action={action}
      danger={isActive}
      trigger={(open) => (
        <Button
          variant={status === 'draft' ? 'filled' : 'default'}
          disabled={!isActive && provider.tested === null}
          onClick={open}
        >
          {action}
        </Button>
      )}
      onSubmit={async () => {
        const body = { status: isActive ? ('disabled' as const) : ('active' as const) }
        await call(updateProviderRoute, { params: paramsOf(provider), body })
        // What the sign-in policy needs first has changed too.
        await invalidate(listProvidersRoute, getTeamSignInRoute)
      }}
    >
      <Text size="sm">{isActive ? t.disableText : t.activateText}</Text>
    </Dialog>
  )
}

const DeleteProvider = ({ provider }: ProviderProps) => (
  <Dialog
    title={t.removeTitle(provider.name)}
    action={t.remove}
    danger
    trigger={(open) => (
      <Button variant="default" onClick={open}>
        {t.remove}
      </Button>
    )}
    onSubmit={async () => {
      await call(deleteProviderRoute, { params: paramsOf(provider) })
      await invalidate(listProvidersRoute, getTeamSignInRoute)
    }}
  >
    <Text size="sm">{t.removeText}</Text>
  </Dialog>
)

function Domains({ provider }: ProviderProps) {
  const answer = useAnswer(listDomainsRoute, { params: { team_id: 'current' }, query: { limit: 1000 } })
  const change = useMutation({
    mutationFn: (domain_ids: number[]) =>
      call(updateProviderRoute, { params: paramsOf(provider), body: { domain_ids } }),
    onSuccess: () => invalidate(listProvidersRoute),
    onError: notifyProblem,
  })
  const bound = provider.domain_ids
  return (
    <section className={classes['part']}>
      <h4>{t.domains}</h4>
      {answer.data?.count === 0 && (
        <Text size="sm">
          {t.noDomains} <TextLink to="/team/domains">{t.toDomains}</TextLink>
        </Text>
      )}
      {answer.data?.results.map(({ id, domain, verified }) => (
        <Switch
          key={id}
          size="xs"
          label={`${t.domainOf(domain)}${verified ? '' : ` (${t.notVerified})`}`}
          checked={bound.includes(id)}
          disabled={change.isPending}
          onChange={() =>
            change.mutate(bound.includes(id) ? bound.filter((one) => one !== id) : [...bound, id])
          }
        />
      ))}
    </section>
  )
}
