// The identities of identity providers that sign in to the account.
import { Button, Skeleton, Text } from '@mantine/core'
import { deleteIdentityRoute, listIdentitiesRoute, type Identity } from '@pharos/contract/session/sso'
import { IconBuilding } from '@tabler/icons-react'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Time } from '../ui/time.tsx'
import { useAllRows } from '../ui/use-all-rows.ts'
import classes from './profile.module.css'
import { SectionProblem } from './section-problem.tsx'
import { words } from './words.ts'

const { identities: t } = words

export function Identities() {
  const answer = useAllRows(listIdentitiesRoute, {})
  return (
    <>
      {answer.error && !answer.data && <SectionProblem error={answer.error} retry={answer.refetch} />}
      {answer.isPending && <Skeleton height={40} />}
      {answer.data?.length === 0 && <Text size="sm">{t.none}</Text>}
      {answer.data && answer.data.length > 0 && (
        <ul className={classes['sessions']}>
          {answer.data.map((one) => (
            <Row key={one.id} identity={one} />
          ))}
        </ul>
      )}
    </>
  )
}

const Row = ({ identity: one }: { readonly identity: Identity }) => (
  <li className={classes['session']}>
    <IconBuilding size={20} stroke={1.5} className={classes['device']} />
    <div className={classes['about']}>
      <div className={classes['name']}>
        <span>
          {one.provider_name} {t.of(one.team_name)}
        </span>
      </div>
      <Text size="xs" c="dimmed">
        {one.email} · {t.linked} <Time at={one.linked} /> ·{' '}
        {one.last_used === null ? (
          t.unused
        ) : (
          <>
            {t.used} <Time at={one.last_used} />
          </>
        )}
      </Text>
    </div>
    <Dialog
      title={t.unlinkTitle(one.provider_name)}
      action={t.unlink}
      danger
      trigger={(open) => (
        <Button variant="default" aria-label={t.unlinkOf(one.provider_name)} onClick={open}>
          {t.unlink}
        </Button>
      )}
      onSubmit={async () => {
        await call(deleteIdentityRoute, { params: { identity_id: one.id } })
        await invalidate(listIdentitiesRoute)
      }}
    >
      <Text size="sm">{t.unlinkText}</Text>
    </Dialog>
  </li>
)
