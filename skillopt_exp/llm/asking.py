"""One question, one reply: out of the store, or over the wire, booked and kept.

What happens to a question, from the outside in: is its answer in the store; is somebody asking the same
right now, here or in another process; how often it is put back when the endpoint stays silent; how
patiently it is sent again; which fields the endpoint takes; when there is a slot; the request itself.
"""

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from json import dumps
from secrets import token_hex

import httpx2
import openai

from skillopt_exp.config.model import EndpointConfig, Provider
from skillopt_exp.errors import OutageError
from skillopt_exp.llm.answers import Answers, question_key
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.bill import NOTHING, AtMost, prompt_at_most
from skillopt_exp.llm.conversation import Conversation, texts_of
from skillopt_exp.llm.desk import Desk, Obtained
from skillopt_exp.llm.endpoint import Endpoint
from skillopt_exp.llm.errors import cause_of, failure_of, outage_of
from skillopt_exp.llm.failure import CallFailed, Failure
from skillopt_exp.llm.health import Health
from skillopt_exp.llm.ledger import SentCall
from skillopt_exp.llm.limits import EndpointLimit, too_long_a_wait
from skillopt_exp.llm.parameters import TOOLS, Dialect, Fields, output_limit
from skillopt_exp.llm.reply import Reply, read_reply
from skillopt_exp.llm.sending import AskedElsewhere, Sending, reused
from skillopt_exp.llm.settling import Settling

SECONDS_BETWEEN_LOOKS = 0.2
"""How often it is looked whether another process has been answered."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """A conversation to be answered, with the fields that are configured for it.

    ``way`` counts the ways in which one conversation is asked (again without JSON mode, again with
    more room), 1 is the first. ``insists_on`` names a field without which asking is pointless.
    """

    conversation: Conversation
    fields: Fields
    stage: Stage
    attempt: int
    way: int = 1
    insists_on: str | None = None


@dataclass(frozen=True, slots=True)
class Lane:
    """What all clients of one model at one host share within a run."""

    limit: EndpointLimit
    dialect: Dialect
    health: Health
    settling: Settling = field(default_factory=Settling)


class Asker:
    """Asks one role's model. ``revision`` pins what cannot be seen of the model from outside."""

    def __init__(
        self,
        endpoint: Endpoint,
        config: EndpointConfig,
        http: openai.AsyncOpenAI,
        lane: Lane,
        desk: Desk,
        revision: tuple[str | None, ...],
    ) -> None:
        self._endpoint = endpoint
        self._config = config
        self._http = http
        self._lane = lane
        self._desk = desk
        self._revision = revision

    async def reply(self, question: Question) -> Reply:
        """The reply to ``question``, whether or not it can be used.

        Raises:
            CallFailed: the endpoint refused the request for good.
            OutageError: it does not answer, and the run pauses.
            BudgetError: a cap is reached; nothing was sent.
            InterruptedRun: the run is closing; nothing was sent.
        """
        key, answers = self._key(question), self._desk.answers
        if answers is None:
            return await self._persistently(question, key)
        reply, paid = self._kept(answers, key), False
        if reply is None:
            obtained, mine = await self._desk.shared.result(
                key, lambda: self._obtained(answers, question, key)
            )
            reply, paid = obtained.reply, obtained.paid and mine
        if not paid:
            self._desk.books.answered(reused(self._call(question, key), reply))
        return reply

    async def _obtained(self, answers: Answers, question: Question, key: str) -> Obtained:
        """Asked for; but while another process asks the same, its answer is waited for, holding nothing."""
        while True:
            if answers.claimed(key):
                await self._desk.clock.sleep(SECONDS_BETWEEN_LOOKS)
            else:
                with suppress(AskedElsewhere):
                    return Obtained(await self._persistently(question, key), paid=True)
            reply = self._kept(answers, key)
            if reply is not None:
                return Obtained(reply, paid=False)

    def _key(self, question: Question) -> str:
        return question_key(
            {
                "place": self._endpoint.place,
                "model": self._endpoint.model,
                "revision": self._revision,
                "messages": question.conversation,
                "fields": dict(question.fields),
                "attempt": question.attempt,
                "way": question.way,
            }
        )

    def _kept(self, answers: Answers, key: str) -> Reply | None:
        response = answers.get(key)
        return None if response is None else self._readable(answers, key, response)

    def _readable(self, answers: Answers, key: str, kept: str) -> Reply | None:
        try:
            return read_reply(kept)
        except CallFailed as error:
            logger.warning("the store of answers holds no chat completion under %s: %s", key, error)
            answers.forget(key)
            return None

    async def _persistently(self, question: Question, key: str) -> Reply:
        """Asked, and put back while the endpoint is silent for few of its callers only."""
        with self._lane.health.caller() as caller:
            while True:
                try:
                    reply = await self._lane.limit.patiently(
                        lambda: self._negotiated(question, key), max_retries=self._config.max_retries
                    )
                except CallFailed as error:
                    failure = error.failure
                    if not failure.retried:
                        caller.answered()
                        raise
                    hopeless = caller.unanswered(cause_of(self._endpoint, failure))
                    if hopeless or too_long_a_wait(failure):
                        raise await self._pause() from error
                else:
                    caller.answered()
                    return reply
                await self._lane.limit.rest(failure, self._config.max_retries + 1, "put back for now")

    async def _pause(self) -> OutageError:
        """Nothing more is sent, what is under way is waited for."""
        outage = outage_of(self._endpoint, self._lane.health, self._desk.activity)
        await self._desk.underway.pause(outage)
        return outage

    async def _negotiated(self, question: Question, key: str) -> Reply:
        """Asked once, by one alone as long as it is not known which fields the endpoint takes."""
        dialect, settling = self._lane.dialect, self._lane.settling
        while not dialect.knows(dialect.apply(question.fields)):
            if not settling.taken:
                with settling.turn():
                    return await self._until_taken(question, key)
            await settling.other()
        return await self._until_taken(question, key)

    async def _until_taken(self, question: Question, key: str) -> Reply:
        """Send, and send again without what the endpoint refuses by name, at most once a field."""
        dialect = self._lane.dialect
        while True:
            taken = dialect.apply(question.fields)
            if question.insists_on is not None and not dialect.takes(question.insists_on):
                raise CallFailed(Failure(f"{question.insists_on} cannot be set", status=400))
            call = self._call(question, key, at_most=self._at_most(question, taken))
            sending = Sending(
                self._desk,
                call,
                timeout=self._config.timeout,
                timed=self._config.provider is not Provider.simulated,
            )
            try:
                reply = await self._lane.limit.once(
                    partial(self._exchange, question, key, taken, sending), hold=sending.begin
                )
            except CallFailed as error:
                if not dialect.learn(taken, error.failure):
                    raise
            else:
                dialect.took(taken)
                return reply

    async def _exchange(self, question: Question, key: str, taken: Fields, sending: Sending) -> Reply:
        """One request, and what is done with its answer; goes on when nobody waits for it any more."""
        try:
            response = await self._send(question.conversation, taken)
            reply = read_reply(response)
        except CallFailed as error:
            failure = replace(error.failure, said=self._endpoint.clean(error.failure.said))
            sending.failed(failure)
            raise CallFailed(failure) from error
        try:
            # Written down before it is kept: killed in between, it is paid twice and counted twice.
            sending.answered(reply)
        finally:
            stands = self._keep(key, response, reply)
        return stands

    def _keep(self, key: str, response: str, reply: Reply) -> Reply:
        """The reply that stands: this one, unless another process was answered the same question first."""
        answers = self._desk.answers
        if answers is None:
            return reply
        kept = answers.put(key, response)
        earlier = None if kept == response else self._readable(answers, key, kept)
        return reply if earlier is None else earlier

    async def _send(self, conversation: Conversation, fields: Fields) -> str:
        """The body of a successful response."""
        endpoint, seconds = self._endpoint, self._config.timeout
        logger.debug("%s: %s with %s, timeout %g s", endpoint.role, endpoint.url, dict(fields), seconds)
        body = {"model": endpoint.model, "messages": conversation, **fields}
        try:
            # The client's own timeout starts anew with every byte, and servers send blanks to keep alive.
            async with asyncio.timeout(seconds):
                response = await self._http.post("/chat/completions", cast_to=httpx2.Response, body=body)
        except TimeoutError as error:
            raise CallFailed(Failure(f"no complete answer within {seconds:g} s")) from error
        except openai.APIError as error:
            raise CallFailed(failure_of(error, now=time.time())) from error
        # JSON is UTF-8 whatever the header says.
        return endpoint.without_key(response.content.decode("utf-8", errors="replace"))

    def _at_most(self, question: Question, taken: Fields) -> AtMost:
        """The most tokens that a request can use."""
        offered = [dumps(taken[TOOLS])] if TOOLS in taken else []
        prompt = prompt_at_most([*texts_of(question.conversation), *offered])
        return AtMost(prompt, output_limit(taken))

    def _call(self, question: Question, key: str, *, at_most: AtMost = NOTHING) -> SentCall:
        return SentCall(
            id=token_hex(8),
            at=self._desk.clock.wall(),
            key=key,
            role=self._endpoint.role,
            stage=question.stage,
            host=self._endpoint.host,
            asked=self._endpoint.model,
            attempt=question.attempt,
            at_most=at_most,
        )
