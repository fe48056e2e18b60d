// Signing in with identity providers of the team: the fields to copy, a test, domains, roles by group, activation, and failed sign-ins.
import { Button, Skeleton, Text } from '@mantine/core'
import {
  createProviderRoute,
  listProvidersRoute,
  NewOidcProvider,
  NewSamlProvider,
  providersMax,
} from '@pharos/contract/team/provider'
import { IconPlus } from '@tabler/icons-react'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { password, text } from '../ui/form-text-widgets.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { ProviderRow } from './provider-row.tsx'
import { metadataOf, samlFields } from './saml-fields.tsx'
import classes from './team.module.css'
import { words } from './words.ts'

const { provider: t } = words

const team = { team_id: 'current' } as const
const declared = {
  name: text({ label: t.name }),
  issuer: text({ label: t.issuer, help: t.issuerHelp, placeholder: 'https://' }),
  client_id: text({ label: t.clientId }),
  client_secret: password({ label: t.clientSecret, help: t.clientSecretHelp, autoComplete: 'new-password' }),
}

export function Providers() {
  const answer = useAnswer(listProvidersRoute, { params: team, query: {} })
  const count = answer.data?.count
  return (
    <Section
      title={t.title}
      actions={
        count !== undefined &&
        count < providersMax && (
          <>
            <AddOidc />
            <AddSaml />
          </>
        )
      }
    >
      {answer.error && !answer.data && <Problem error={answer.error} retry={answer.refetch} />}
      {answer.isPending && <Skeleton height={120} />}
      {count === 0 && <Empty title={t.noneTitle}>{t.noneText}</Empty>}
      {answer.data && answer.data.count > 0 && (
        <ul className={classes['rows']}>
          {answer.data.results.map((provider) => (
            <ProviderRow key={provider.id} provider={provider} />
          ))}
        </ul>
      )}
    </Section>
  )
}

const AddOidc = () => (
  <Dialog
    title={t.addOidc}
    action={t.add}
    route={{ ...createProviderRoute, body: NewOidcProvider }}
    declared={declared}
    intro={<Text size="sm">{t.addIntro}</Text>}
    initialValues={{ name: '', issuer: '', client_id: '', client_secret: '' }}
    trigger={(open) => (
      <Button leftSection={<IconPlus size={14} />} onClick={open}>
        {t.addOidc}
      </Button>
    )}
    onSubmit={async ({ name, issuer, client_id, client_secret }) => {
      const body = {
        kind: 'oidc' as const,
        name,
        issuer: issuer.trim(),
        client_id: client_id.trim(),
        client_secret,
      }
      await call(createProviderRoute, { params: team, body })
      await invalidate(listProvidersRoute)
    }}
  />
)

const AddSaml = () => (
  <Dialog
    title={t.addSaml}
    action={t.add}
    route={{ ...createProviderRoute, body: NewSamlProvider }}
    declared={{ name: declared.name, ...samlFields }}
    intro={<Text size="sm">{t.addSamlIntro}</Text>}
    initialValues={{ name: '', metadata_url: '', metadata: '' }}
    trigger={(open) => (
      <Button variant="default" leftSection={<IconPlus size={14} />} onClick={open}>
        {t.addSaml}
      </Button>
    )}
    onSubmit={async ({ name, ...given }) => {
      const body = { kind: 'saml' as const, name, ...metadataOf(given) }
      await call(createProviderRoute, { params: team, body })
      await invalidate(listProvidersRoute)
    }}
  />
)
