"""One store's producers and its reader over a `SharedConfigLog`: every step of a record can be done on its own.

By default a channel is prompt: a submitted call is done before `ConfigChannel.submit` returns, unless the
topic is unreadable or unwritable. With ``prompt=False`` nothing happens until the owner says so, in any order that
Kafka allows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rebalance_check.impl.connect.config.errors import ConfigRecordError
from rebalance_check.impl.connect.config.log import ConfigReader, LogStep, ReadToEnd, Send
from rebalance_check.impl.connect.config.shared_log import SharedConfigLog, Transaction, TransactionState
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

BATCH: int = 500
"""``max.poll.records``: how many records the reader polls together."""


@dataclass(slots=True, eq=False)
class Sending:
    """A `Send` that was not answered yet: which of its records were appended, and the transaction that holds them."""

    number: int
    send: Send
    appended: set[int] = field(default_factory=set)
    transaction: Transaction | None = None

    @property
    def complete(self) -> bool:
        """Whether every record was appended."""
        return len(self.appended) == len(self.send.records)


@dataclass(slots=True, eq=False)
class ConfigChannel:
    """The log that a store is made with; ``store`` is set after making it.

    ``readable`` and ``writable`` False: reads to the end, and sends, are not served until they are True again and
    `pump` is called. ``committed`` is the reader's isolation level. ``ended`` says that the reader's thread died.
    """

    topic: SharedConfigLog
    member: str
    prompt: bool = True
    committed: bool = False
    store: ConfigReader | None = None
    readable: bool = True
    writable: bool = True
    position: int = 0
    closed: bool = False
    ended: bool = False
    sending: list[Sending] = field(default_factory=list)
    claims: list[int] = field(default_factory=list)
    ends: list[tuple[int, int]] = field(default_factory=list)
    lost: int = 0
    _epoch: int | None = None
    _end_was_served: bool = False

    # -------------------------------------------------------------------------------------------- the store's side

    @property
    def partitions(self) -> int:
        """Those of the topic."""
        return self.topic.partitions

    def submit(self, number: int, step: LogStep) -> None:
        """Take a step of a call, and do it at once if the channel is prompt."""
        if isinstance(step, Send):
            self.sending.append(Sending(number, step))
        elif isinstance(step, ReadToEnd):
            self.ends.append((number, self.topic.stable_end if self.committed else self.topic.end))
        else:
            self.claims.append(number)
        if self.prompt:
            self.pump()

    def close_transactions(self) -> None:
        """The producer is gone, with its uncommitted records."""
        self._epoch = None
        for sending in [one for one in self.sending if one.send.transaction]:
            self.sending.remove(sending)
            self._abort(sending)

    def close(self) -> None:
        """The store stopped, or its process died: nothing is read, sent or answered any more."""
        self.closed = True
        self.close_transactions()
        self.sending.clear()
        self.ends.clear()
        self.claims.clear()

    # -------------------------------------------------------------------------------------------- all at once

    def pump(self) -> None:
        """Do everything that the store submitted, as far as the topic can be written and read."""
        while self.writable and (self.claims or self.sending):
            if self.claims:
                self.claim()
            else:
                self._finish(self.sending[0])
        if self.readable and self.ends:
            self.poll()
            self.serve_end()

    def _finish(self, sending: Sending) -> None:
        if sending.send.transaction and self.fenced:
            self.fail(sending)
            return
        while not sending.complete:
            self.append(sending)
        self.answer(sending)

    # -------------------------------------------------------------------------------------------- producers

    def claim(self) -> None:
        """Answer the first claim: the producer has the youngest epoch now."""
        self._epoch = self.topic.init_transactions(self.member)
        self._store().completed(self.claims.pop(0))

    def append(self, sending: Sending, index: int | None = None) -> None:
        """The broker appends a record of a send: the next one, or, for plain sends that overtake each other, any.

        Raises: RebalanceCheckError for a transaction of a fenced producer, and when nothing is left to append.
        """
        left = [i for i in range(len(sending.send.records)) if i not in sending.appended]
        if not left or (index is not None and index not in left):
            raise RebalanceCheckError(f"{self.member} has appended those records already: answer the send")
        self._refuse_fenced(sending)
        if sending.send.transaction and sending.transaction is None:
            sending.transaction = Transaction(self._epoch or 0)
        at = left[0] if index is None else index
        self.topic.append(self.member, sending.send.records[at], sending.transaction)
        sending.appended.add(at)

    def answer(self, sending: Sending) -> None:
        """Report that all records of a send were appended, and commit its transaction if it has one.

        Raises: RebalanceCheckError while records are missing, and for a transaction of a fenced producer.
        """
        self._refuse_fenced(sending)
        if not sending.complete:
            raise RebalanceCheckError(f"{self.member} has records of that send in flight: append them first")
        self.sending.remove(sending)
        if sending.transaction is not None:
            self.topic.commit(sending.transaction)
        self._store().completed(sending.number)

    def fail(self, sending: Sending, why: str = "the send failed") -> None:
        """Report that a send failed; its appended records stay, but for a transaction, which is aborted."""
        self.sending.remove(sending)
        self._abort(sending)
        self._store().completed(sending.number, why)

    def _refuse_fenced(self, sending: Sending) -> None:
        if sending.send.transaction and self.fenced:
            raise RebalanceCheckError(f"the transactional producer of {self.member} is fenced: let the send fail")

    def _abort(self, sending: Sending) -> None:
        if sending.transaction is not None and sending.transaction.state is TransactionState.OPEN:
            self.topic.abort(sending.transaction)

    @property
    def fenced(self) -> bool:
        """Whether a transaction of this channel's producer would be refused: it has none, or a younger one exists."""
        return self._epoch is None or self.topic.is_fenced(self._epoch)

    # -------------------------------------------------------------------------------------------- reader

    @property
    def behind(self) -> bool:
        """Whether the topic holds a record that the reader can read and has not."""
        return self.topic.read(self.position, committed=self.committed) is not None

    def poll(self, limit: int | None = None) -> int:
        """Let the reader read ``limit`` records (None: all), in batches; how many it passed.

        When the store throws at a record, the rest of its batch is lost; when that was the first batch after a read to
        the end was served, the reader ends.
        """
        passed = 0
        while not (self.ended or self.closed) and (limit is None or passed < limit):
            count = self._poll_batch(BATCH if limit is None else min(BATCH, limit - passed))
            if not count:
                break
            passed += count
        return passed

    def _poll_batch(self, size: int) -> int:
        after_end, self._end_was_served = self._end_was_served, False
        failed = False
        for count in range(size):
            record = self.topic.read(self.position, committed=self.committed)
            if record is None:
                return count
            self.position = record.offset + 1
            if failed:
                self.lost += 1
                continue
            try:
                self._store().read(record.offset, record.key, record.value)
            except ConfigRecordError:
                failed = True
                self.ended = self.ended or after_end
        return size

    def serve_end(self) -> None:
        """Answer the reads to the end that the reader has reached; a reader that ended answers none."""
        if self.ended:
            return
        reached = [number for number, end in self.ends if not self._is_below(end)]
        self.ends = [(number, end) for number, end in self.ends if number not in reached]
        self._end_was_served = self._end_was_served or bool(reached)
        for number in reached:
            self._store().completed(number)
        if reached and self.prompt:
            self.pump()

    def _is_below(self, end: int) -> bool:
        """Whether a record below ``end`` is left to read."""
        record = self.topic.read(self.position, committed=self.committed)
        return record is not None and record.offset < end

    def _store(self) -> ConfigReader:
        if self.store is None:
            raise RebalanceCheckError(f"the channel of {self.member} has no store: set it after making one")
        return self.store
