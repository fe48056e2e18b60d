// The team's TSIG keys, which authenticate zone transfers and dynamic updates. The secret of a new key is shown once.
import { Alert, Button, Stack, Text } from '@mantine/core'
import {
  createTsigKeyRoute,
  deleteTsigKeyRoute,
  listTsigKeysRoute,
  tsigKeyAlgorithms,
  type CreatedTsigKey,
  type TsigKey,
} from '@pharos/contract/dns/tsig'
import { describeResources, type ZoneResources } from '@pharos/contract/resource-limit'
import { IconPlus } from '@tabler/icons-react'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { actionsColumn, Dimmed, RowActions, timeColumn } from '../ui/cells.tsx'
import { CopyBlock } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { expiry, expiryOf, type Expiry } from '../ui/expiry.tsx'
import { text } from '../ui/form-text-widgets.tsx'
import { networks, select, toggle } from '../ui/form-widgets.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { hiddenSecret, Secret } from '../ui/secret.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { noResources, resourcePicker, resourcesOf } from './resource-picker.tsx'
import { words } from './words.ts'

const { key: t } = words

const declared = {
  label: text({ label: t.label, help: t.labelHelp, placeholder: 'acme-web1' }),
  may_update: toggle({ label: t.mayUpdate }),
  may_transfer: toggle({ label: t.mayTransfer }),
  resources: resourcePicker(['zones']),
  allowed_subnets: networks({ label: words.token.subnets, help: t.subnetsHelp }),
  algorithm: select({
    label: t.algorithm,
    data: tsigKeyAlgorithms.map((value) => ({ value, label: value })),
  }),
  expires: expiry({ label: words.token.expiry }),
}

const newKey = {
  label: '',
  may_update: true,
  may_transfer: false,
  resources: { ...noResources, isLimited: true },
  allowed_subnets: [] as string[],
  algorithm: 'hmac-sha256' as const,
  expires: null as Expiry,
}

const AddKey = () => (
  <Dialog
    title={t.add}
    action={t.add}
    size="lg"
    route={createTsigKeyRoute}
    declared={declared}
    initialValues={newKey}
    trigger={(open) => (
      <Button leftSection={<IconPlus size={14} />} onClick={open}>
        {t.add}
      </Button>
    )}
    onSubmit={async ({ resources: picked, expires, ...rest }) => {
      const resources = resourcesOf(picked) as ZoneResources | undefined
      const body = { ...rest, expires: expiryOf(expires), ...(resources ? { resources } : {}) }
      const created = (await call(createTsigKeyRoute, { body })).body
      await invalidate(listTsigKeysRoute)
      return created
    }}
    result={(created) => <Created {...created} />}
  />
)

/** For nsupdate -k, and as the settings of a name server. */
const keyFile = ({ name, algorithm }: TsigKey, secret: string): string =>
  `key "${name}" {\n  algorithm ${algorithm};\n  secret "${secret}";\n};`

const Created = (created: CreatedTsigKey) => (
  <Stack>
    <Alert color="warn">{t.once}</Alert>
    <Secret text={created.secret} name={t.noun} />
    <CopyBlock
      text={keyFile(created, created.secret)}
      shown={keyFile(created, hiddenSecret)}
      label={t.copyFile}
    />
  </Stack>
)

const DeleteKey = ({ tsigKey: { id, name } }: { readonly tsigKey: TsigKey }) => (
  <Dialog
    title={t.deleteTitle(name)}
    action={words.delete}
    danger
    trigger={(open) => (
      <Button variant="subtle" color="bad" size="compact-xs" onClick={open}>
        {words.delete}
      </Button>
    )}
    onSubmit={async () => {
      await call(deleteTsigKeyRoute, { params: { tsig_key_id: id } })
      await invalidate(listTsigKeysRoute)
    }}
  >
    <Text size="sm">{t.deleteText}</Text>
  </Dialog>
)

const usesOf = ({ may_update: update, may_transfer: transfer }: TsigKey): string =>
  [update ? t.updates : '', transfer ? t.transfers : ''].filter(Boolean).join(', ') || t.bySettings

const shown: readonly Column<TsigKey>[] = [
  { id: 'name', header: t.name, orderBy: 'name', width: 200, card: 'primary', cell: ({ name }) => name },
  { id: 'uses', header: t.uses, width: 160, card: 'state', cell: usesOf },
  {
    id: 'resources',
    header: words.resources.label,
    width: 220,
    grows: true,
    card: 'secondary',
    cell: ({ resources }) => (resources ? describeResources(resources) : <Dimmed>{t.allZones}</Dimmed>),
  },
  { id: 'algorithm', header: t.algorithm, width: 120, hidden: true, cell: ({ algorithm }) => algorithm },
  { id: 'by', header: t.managedBy, width: 110, cell: ({ managed_by: manager }) => t.manager[manager] },
  timeColumn('expires', words.token.expiry, ({ expires }) => expires, { none: words.token.never }),
  timeColumn('created', t.created, ({ created }) => created, { orderBy: 'created' }),
]
const managed: readonly Column<TsigKey>[] = [
  ...shown,
  actionsColumn(
    t.actions,
    (key) => <RowActions>{key.managed_by === 'team' && <DeleteKey tsigKey={key} />}</RowActions>,
    110,
  ),
]

const declaration: ListDeclaration = { sort: 'name', filters: [] }

export function TsigKeys() {
  const view = useListSearch('/team/tsig-keys', declaration)
  const canManage = useGrant('dns.manage')
  return (
    <List<TsigKey>
      name="tsig-keys"
      things={t.things}
      route={listTsigKeysRoute}
      view={view}
      columns={canManage ? managed : shown}
      {...(canManage ? { toolbar: <AddKey /> } : {})}
      empty={<Empty title={t.none}>{t.noneText}</Empty>}
    />
  )
}
