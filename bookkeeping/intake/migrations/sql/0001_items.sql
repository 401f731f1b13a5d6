-- Every item that was ever put. A row stays when its item is done: its key is what makes putting idempotent.
CREATE TABLE intake.items (
    item_id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key          text NOT NULL CONSTRAINT items_key_once UNIQUE,
    queue        text NOT NULL CONSTRAINT items_queue_named CHECK (queue ~ '^[a-z][a-z_]{0,39}$'),
    payload      text NOT NULL,  -- JSON in ASCII: jsonb refuses U+0000, which a submission may well have
    put_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    n_deliveries integer NOT NULL DEFAULT 0 CONSTRAINT items_deliveries_counted CHECK (n_deliveries >= 0),
    receipt      uuid,
    leased_until timestamptz,
    done_at      timestamptz,
    CONSTRAINT items_lease_has_receipt CHECK (leased_until IS NULL OR receipt IS NOT NULL)
);

CREATE INDEX items_waiting ON intake.items (queue, item_id) WHERE done_at IS NULL;
