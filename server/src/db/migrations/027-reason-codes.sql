-- Codes beside texts, so that nothing is decided by a sentence.

-- Who suspended an announcement: the policy of the validator lifts its own suspensions only. A reason that staff wrote is
-- theirs, even if it is the word `validation`: the history tells them apart.
alter table announcements add column suspended_by text check (suspended_by in ('staff', 'validation'));
update announcements a set suspended_by = case
  when suspended_reason = 'validation' and 'validator' = (
    select actor from announcement_history h
    where h.announcement_id = a.id and h.kind = 'suspended' order by h.id desc limit 1)
  then 'validation' else 'staff' end
where suspended;
update announcements set suspended_reason = null where suspended_by = 'validation';
alter table announcements add constraint announcements_suspended_by check (suspended = (suspended_by is not null));
comment on column announcements.suspended_by is '`staff`: the provider, through the API or the platform file; `validation`: the policy for failing checks';
comment on column announcements.suspended_reason is 'the text of staff for the team; null if there is none';

-- Why a check or a proof has its state. Null in rows from before: the next check of each sets it.
alter table announcement_validations add column reason text, add column attrs jsonb not null default '{}';
alter table announcement_proofs add column reason text, add column attrs jsonb not null default '{}';
comment on column announcement_validations.reason is 'code from contract/src/check-reason.ts; null in rows from before codes existed';
comment on column announcement_validations.attrs is 'JSON object: the attributes of the reason';
comment on column announcement_validations.note is 'the sentence of the reason, for webhooks';
comment on column announcement_proofs.reason is 'code from contract/src/check-reason.ts; null in rows from before codes existed';
comment on column announcement_proofs.attrs is 'JSON object: the attributes of the reason';
