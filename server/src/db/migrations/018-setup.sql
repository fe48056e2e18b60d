-- phase: expand
-- runs with: 0.2.0
-- The first run of an empty installation: its setup code, and the ASN of the provider beside the name.

create table setup (
  key text primary key default 'setup' check (key = 'setup'),
  salt text,
  expires timestamptz,
  completed timestamptz,
  dismissed timestamptz,
  check ((salt is null) = (expires is null))
);
comment on table setup is 'one row, once a process has printed a setup code';
comment on column setup.salt is 'gives the setup code with the key ring of the installation; the code itself is not stored';
comment on column setup.completed is 'when the first account was created: there is no second setup';
comment on column setup.dismissed is 'when staff hid the list of what is left';
alter table setup enable row level security;

alter table provider add column asn bigint;
alter table provider add constraint provider_asn_check check (asn between 1 and 4294967295) not valid;
