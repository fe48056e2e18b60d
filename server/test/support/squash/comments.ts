// Comments of the squashed files. Those of the former files are of the time of a change, and some describe what is no longer so.

/** By `table name` or `function name`; an empty text is none. */
export const comments: Readonly<Record<string, string>> = {
  'function current_team_id':
    'The team of the transaction; null outside of the work for a team, so that no policy lets a row through.',
  'function rate_bucket':
    '16 buckets for each power of two, with integers only, so that rate_bucket(x) >= b exactly if x >= bucket_rate(b).',
  'function event_buckets':
    'Arrays, because a VALUES list would be compiled again for each event, which takes 200 us.',
  'function wake_actors':
    'Processes discard what they know about credentials. Only a notification: a counter in a row made concurrent changes wait for each\nother until the commit, up to a deadlock.',
  'function raise_version': 'By trigger, because the platform file changes rows too.',
  'function user_profile':
    'The user as the API returns it, in one team; null if the user is neither a member of the team nor staff. A function, because signing in,\nrefreshing a session and reading the account must not differ.',
  'table revisions':
    'The revision of a map in memory is raised by triggers, because a writer that forgot it would leave the map stale without notice.',
  'table former_members':
    'A former member does not join again by the domain of the e-mail address, only by an invitation.',
  'function account_state':
    'A token that was sent by mail is bound to this value: it is invalid once the address or the password has changed.',
  'table sign_in_failures':
    'Counted in the database, so that all processes count together. A row is deleted a day after its last attempt, or by a success.',
  'table second_factors':
    'The secret of the codes of a user (RFC 6238). The row exists from the moment at which the user begins to set it up.',
  'function domain_is_claimed':
    'Whether another team has verified the domain, without its name. Asked after the asking team has proved it too.',
  'function create_month_partitions':
    'Locks the parent too, not only the default partition. A statement reads the list of partitions when it is planned and then waits for the\ndefault partition: without the lock on the parent it would find moved rows in neither place, since its list is older than the move and\nits snapshot is newer.',
  'function refuse_change':
    'Rows are written once, also for the owner of the tables: grants do not apply to it. Only a role that may alter the table gets past this, and\nthe chain of hashes shows it.',
  'function audit_actor_names':
    'Names of actors that a team may read: the e-mail address of a user, the name of a token of the team. People of the provider have none,\nnor have actors without an entry of the team.',
  'table audit_seals':
    'Links of the chain of hashes, in their order. server/src/audit/canonical.ts defines what is hashed.',
  'table audit_unsealed':
    'Entries that wait for their seal. Their ids do not give the order: a transaction that began earlier may end later, and its entries then\nappear below sealed ones. No notification: commits that notify wait for each other (1,200 instead of 3,400 a second with 8 connections),\nso the sealer reads this table every second.',
  'function drop_audit_months':
    'Drops the months of the audit log that ended at `past` or before, oldest first, with their seals, and stops at a month with an entry that\nwaits for its seal. The last seal stays, so that the chain continues.',
  'table outbox':
    'Written by triggers and use cases in the transaction of the change, so that a change that is rolled back sends no message. No reference to\nteams: checking it would cost more than the row. Readers follow the order (xid, id) up to `xid < pg_snapshot_xmin(pg_current_snapshot())`:\na transaction below that has ended, so no row can appear before one that was read.',
  'constraint outbox_type_check':
    'Not valid, since an upgraded database may have older messages of other types.',
  'table notification_position': 'The position in the outbox up to which notifications were written.',
  'function asn_is_held': 'Whether another team is verified for the ASN, without its name.',
  'function end_expired_asn':
    'Ends an expired proof of another team that the daily check has not ended yet, so that the holder can be verified.',
  'table removed_resources':
    'A changed resource is matched against past events again; of a removed one, the relationships are deleted. The rematch loop does both.',
  'table former_holdings':
    'Former prefixes of a team and their times: it may still see events of that time that concern no other team.',
  'function prefix_is_claimed':
    'Whether another team has claimed the prefix or one that covers it, without its name.',
  'function holds_network':
    'Whether the team is the most specific holder of the network: a prefix or a claimed announcement of the team covers it, and no longer one\nof another team does.',
  'table announcement_regions':
    'One row per region that was ever configured. It is not deleted while the announcement exists: a row that is not desired is the evidence\non which a route is withdrawn, and a route without a row waits for an approval. Half of each page stays free, so that updates of states\nchange no index.',
  'table announcement_validations': 'One row per check of an announcement; absent until its first result.',
  'table announcement_history':
    'Changes and observations of an announcement for its team. The audit log has the changes only.',
  'table letter_files':
    'A table of its own, because nearly all statements about letters do not need megabytes.',
  'table asn_proofs':
    'The last result of each method that a team has tried. The holder of an ASN is in asns.',
  'function zone_is_claimed':
    'Whether another team or the operator has the name, a zone above it or a zone below it, without its name. `above` are the keys of all names\nabove; `before` is the first key after the names below.',
  'table delivery_ids':
    'A delivery id is unique for its source in all months, which a partitioned table cannot ensure.',
  'table event_networks': 'The networks of the few events with several, affected_network included.',
  'table team_events':
    'The read model of the list of events: one row per event and team, with the record as the API returns it. Written in the transaction that\nwrites the event, so that a page and its count are one snapshot. No reference to events: the check takes 16 us a row, and there is one\nwriter. Rows are deleted before their event.',
  'table team_event_counts':
    'Numbers of events of a team by flags and bucket: the exact count of a page without counting, and the position of a deep offset without\nwalking to it. Updated by the trigger count_team_events().',
  'table event_reviews':
    'Decisions of a team about an event: deliveries do not change them, and they stay while the event does not concern the team.',
  'table event_flow_files':
    'Events whose flows were saved as a file, or that had none. Each is retried until it succeeds once.',
  'table incident_reports': '',
}
