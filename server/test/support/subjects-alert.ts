// The operations of alert rules. Each call uses a new rule on the load of a port, with an open firing.
import { addAlertRule } from '../../src/alert/testing.ts'
import {
  absentIsNotFound,
  foreignOf,
  missingId,
  only,
  ownOf,
  type Context,
  type Subject,
  type SubjectRequest,
} from './subject.ts'

/** Rules need no module, only their conditions do. */
const isBare = ({ identity }: Pick<Context, 'identity'>): boolean =>
  'team' in identity && identity.team === 'bare'

function aboutRules(rest: SubjectRequest = {}): Subject['requests'] {
  const request = (alert_rule_id: number) => ({ ...rest, params: { alert_rule_id } })
  const add = ({ api }: Context, teamId: number, portId: number) =>
    addAlertRule(api.database.postgres.owner, teamId, { portId, isFiring: true })
  return {
    own: async (context) => {
      const { teamId, portId } = ownOf(context)
      return request(await add(context, isBare(context) ? context.fixtures.bare.teamId : teamId, portId))
    },
    foreign: async (context) => {
      const { teamId, portId } = foreignOf(context)
      return request(await add(context, teamId, portId))
    },
    missing: async () => request(missingId),
  }
}

const conditionOn = (port_id: number) => ({
  kind: 'port_utilisation',
  port_id,
  direction: 'in',
  above_percent: 80,
  for_minutes: 15,
})

const needsModule =
  (found: Subject['answers']): Subject['answers'] =>
  (which, identity) =>
    isBare({ identity }) ? 'module_disabled' : found(which, identity)

const aboutPorts = (name?: string): Subject['requests'] => {
  const request = (portId: number) => ({
    body: { ...(name === undefined ? {} : { name }), condition: conditionOn(portId) },
  })
  return {
    own: async (context) => request(ownOf(context).portId),
    foreign: async (context) => request(foreignOf(context).portId),
    missing: async () => request(missingId),
  }
}

export const alertSubjects: readonly Subject[] = [
  { route: 'listAlertRules', requests: only(), answers: () => 200 },
  { route: 'getAlertRule', requests: aboutRules(), answers: absentIsNotFound },
  {
    route: 'createAlertRule',
    requests: aboutPorts('Uplink'),
    answers: needsModule((which) => (which === 'own' ? 201 : 'invalid')),
  },
  {
    route: 'updateAlertRule',
    requests: aboutRules({ body: { name: 'Renamed' } }),
    answers: absentIsNotFound,
  },
  {
    route: 'deleteAlertRule',
    requests: aboutRules(),
    answers: (which) => (which === 'own' ? 204 : 'not_found'),
  },
  { route: 'listAlertFirings', requests: aboutRules(), answers: absentIsNotFound },
  {
    route: 'tryAlertCondition',
    form: 'on any port: the answer has no values of those that the team does not have',
    requests: aboutPorts(),
    answers: needsModule(() => 200),
  },
]
