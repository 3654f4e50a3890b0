"""The one place where the sidecar is put together."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING

from aiohttp import web
from yarl import URL

from paste_proxy.clock import Clock, SystemClock, day_of
from paste_proxy.config import Config
from paste_proxy.mining import pool
from paste_proxy.mining.forecast.adaptation import Adaptation
from paste_proxy.mining.predict import Predictor, warm
from paste_proxy.mining.prediction import SessionPredictor
from paste_proxy.proxy.app import Parts
from paste_proxy.proxy.budget_file import KeptBudgets, budget_path
from paste_proxy.proxy.dispatch.route import add_dispatch_routes
from paste_proxy.proxy.forwarding import BlindTurns, NothingSeen, OpenGate
from paste_proxy.proxy.guessing import guessing
from paste_proxy.proxy.hub.conductor import Conductor
from paste_proxy.proxy.hub.discretion import Discretion
from paste_proxy.proxy.hub.engine_desk import engine_desk
from paste_proxy.proxy.hub.executor import Executor
from paste_proxy.proxy.hub.foresight import Foresight
from paste_proxy.proxy.hub.guess_desk import GuessDesk
from paste_proxy.proxy.hub.hub import Hub
from paste_proxy.proxy.hub.learned import Learned
from paste_proxy.proxy.hub.permission import Permission
from paste_proxy.proxy.hub.preparation_desk import PreparationDesk
from paste_proxy.proxy.hub.preparer import Preparer
from paste_proxy.proxy.hub.refusal_desk import RefusalDesk
from paste_proxy.proxy.hub.sessions import Sessions
from paste_proxy.proxy.hub.spending import Spending
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.hub.thinking import Thinker
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.proxy.hub.turn_watch import TurnWatch
from paste_proxy.proxy.mcp.route import add_mcp_routes
from paste_proxy.proxy.memory import Memory
from paste_proxy.proxy.named_files import GENERAL, general_pool, read_patterns, read_policy
from paste_proxy.proxy.outages import Outages
from paste_proxy.proxy.pacing.gates import gates_of, paces
from paste_proxy.proxy.pacing.minding import minding
from paste_proxy.proxy.pacing.sending import Sender
from paste_proxy.proxy.ports import ToolGate
from paste_proxy.proxy.recorder import Recorder
from paste_proxy.proxy.snapshot import HubSnapshot
from paste_proxy.proxy.staging import stages_of
from paste_proxy.proxy.tool_output_route import add_tool_output_route
from paste_proxy.speculation.budgets.budgets import BudgetLimits
from paste_proxy.speculation.limits import ServerCapacity, SpeculationLimits
from paste_proxy.speculation.opportunities import Opportunities
from paste_proxy.speculation.policy import Policy, combine
from paste_proxy.speculation.preparing import Preparations
from paste_proxy.speculation.scheduler import Scheduler
from paste_proxy.speculation.types import Mode, Refused
from paste_proxy.tools.backend import Staging

if TYPE_CHECKING:
    from paste_proxy.staging.stages import Stages


def compose(config: Config, clock: Clock | None = None) -> Parts:
    """The parts of a sidecar; reads files, so to be called before the event loop runs.

    Raises:
        InputFault: a file that the config names is wrong.
    """
    if config.speculation.mode is Mode.OFF and not paces(config):
        return forwarding_only(config)
    return Sidecar(config, clock or SystemClock()).parts()


class Sidecar:
    """The hub and everything around it that has no route of its own."""

    def __init__(self, config: Config, clock: Clock) -> None:
        self.config, self._clock = config, clock
        self.tally = Tally(now=clock.epoch)
        pools = [read_patterns(name) for name in config.patterns]
        if config.learning.general and GENERAL not in config.patterns:
            pools.append(general_pool())
        self._pool = pool.combine(pools)
        self._adaptation: Adaptation | None = None
        self.thinker: Thinker | None = None
        """Once it lives."""
        self._policy = combine([read_policy(name) for name in config.policies])
        alike = (name for name, server in config.mcp.items() if server.alike)
        self._toolbox = Toolbox(config.mcp, alike, self._policy.annotated)
        wanted = config.speculation
        self._permission = Permission(self._toolbox, self._policy, wanted.destinations, wanted.mode)
        self.stages = stages_of(config, self._policy, clock)
        if self.stages is not None:
            self.tally.stages = self.stages.tally
        self._scheduler = scheduler(config, self._policy)
        self.tally.spending = lambda: Spending.of(self._scheduler.budgets, clock.monotonic())
        self._engines = engine_desk(gates_of(config), self._toolbox, self.tally.warming, clock)
        self.tally.gates = self._engines.pacing.accounts
        self.sessions = Sessions(
            self._predictor,
            limit=config.limits.sessions,
            idle_s=config.limits.session_idle_s,
            prefix=f"{int(clock.epoch()):x}-",
        )
        self.hub = Hub(
            toolbox=self._toolbox,
            deadline=self._next_deadline,
            tally=self.tally,
            clock=clock,
            inbox_limit=config.limits.inbox_events,
        )
        self.watch = TurnWatch(
            self.hub.post,
            clock,
            session_headers=config.session_headers,
            inline_bytes=config.limits.inline_parse_bytes,
            fault=self.tally.fault,
            prompt_chars=config.speculator.prompt_chars if config.speculator is not None else 0,
        )
        self.watch.enters = self._engines.pacing.enters
        self._refusals = self._refusal_desk()
        self._foresight = Foresight(
            self._toolbox,
            frozenset(self._pool.tools),
            self._refusals.not_executable,
            self._policy.core,
            lambda invocation: self._policy.rule_for(invocation).staged,
        )
        self._guessing = None if config.speculator is None else guessing(config.speculator, self.hub.post)

    def parts(self) -> Parts:
        """What the application is built from."""
        snapshot = HubSnapshot(
            mode=self.config.speculation.mode,
            tally=self.tally,
            sessions=self.sessions,
            pool=self._pool,
            policy=self._policy,
            learned_of=lambda pattern: self._adaptation.learned_of(pattern) if self._adaptation else (0.0, 0.0),
        )
        return Parts(
            tally=self.tally,
            turns=self.watch,
            snapshot=snapshot,
            sessions=lambda: len(self.sessions),
            routes=(
                lambda app: tool_routes(app, self.config, self.hub, self._clock, self.tally, self._policy, self.stages),
                lambda app: add_tool_output_route(
                    app,
                    self.hub.post,
                    warms=any(route.warm_up for route in self.config.llm),
                    host=self.config.host,
                ),
            ),
            draining=self._engines.release,
            lifetimes=(self.living,),
        )

    @property
    def policy(self) -> Policy:
        """What may be run ahead."""
        return self._policy

    async def living(self, _: web.Application | None = None) -> AsyncIterator[None]:
        """Cleanup context: the recorder, the executor, the hub's task, the watch's worker."""
        thinker = self.thinker = Thinker(self.hub.post, self.tally.fault)
        memory = await self._remember(thinker) if self.config.learning.enabled else None
        budgets = await self._budgets()
        opening = await self._open_stages()
        await asyncio.to_thread(warm, self._pool if self._adaptation is None else self._adaptation.pool)
        recorder = Recorder(self.config.recording, self._clock, self.tally.fault)
        executor = Executor(self.hub.post)
        preparer = Preparer(self.tally.preparations, self._clock)
        self.tally.running = executor.running
        sender = Sender(self.tally.warming, self._clock)
        self._engines.send = sender.send
        self.hub.start(
            Conductor(
                scheduler=self._scheduler,
                sessions=self.sessions,
                toolbox=self._toolbox,
                foresight=self._foresight,
                executor=executor,
                log=recorder,
                tally=self.tally,
                clock=self._clock,
                guesses=self._guess_desk(),
                refusals=self._refusals,
                preparations=self._preparation_desk(preparer),
                thinking=thinker,
                engines=self._engines,
            ),
            catch_up=self.watch.catch_up,
        )
        async with minding(self.config, self.hub.post, self._engines.pacing):
            yield
        await self.hub.close()
        await sender.close()
        await preparer.close()
        await executor.close()
        if self.stages is not None:
            if opening is not None:
                await opening
            await self.stages.close()
        if budgets is not None:
            await budgets.close()
        if memory is not None:
            await memory.close()
        await thinker.close()
        if self._guessing is not None:
            await self._guessing.speculator.close()
        await self.watch.close()
        await recorder.close()

    def _next_deadline(self) -> float | None:
        due = (self._scheduler.next_deadline(), self._engines.pacing.next_deadline())
        return min((at for at in due if at is not None), default=None)

    async def _open_stages(self) -> "asyncio.Task[None] | None":
        """Finish what an earlier sidecar left before any agent looks; what the machine can do shows meanwhile."""
        if self.stages is None:
            return None
        await self.stages.recover()
        return asyncio.create_task(self.stages.open(), name="stages")

    async def _remember(self, thinker: Thinker) -> Memory:
        """What earlier sessions taught; predictors made from now on go by it."""
        memory = await asyncio.to_thread(Memory, self.config, self._clock, self.tally.fault, thinker.had)
        self._adaptation = Adaptation(self._pool, memory.places, shared=self._shared, harmless=memory.harmless)
        self.tally.learned = partial(Learned.of, self._adaptation)
        memory.start()
        return memory

    async def _budgets(self) -> KeptBudgets | None:
        """What earlier sidecars used of this day's budgets, and what still keeps calls back."""
        path, budgets, kept = await asyncio.to_thread(budget_path, self.config), self._scheduler.budgets, None
        if path is not None:
            kept = KeptBudgets(budgets, self._clock, path, self.tally.fault)
            await kept.start()
        budgets.book.turn(day_of(self._clock.epoch()), self._clock.monotonic())
        return kept

    def _refusal_desk(self) -> RefusalDesk:
        wanted = self.config.speculation
        found = Opportunities(self._policy.core, least=wanted.min_confidence, ttl_s=wanted.ttl_s)
        self.tally.opportunities = found.biggest
        return RefusalDesk(self.tally, self._clock, found, self._could_stage)

    def _could_stage(self, refused: Refused) -> bool:
        """Whether something that the session calls could hold back the effects of what was refused."""
        session = self.sessions.get(refused.session)
        scopes = session.scopes.values() if session is not None else ()
        offer = self._toolbox.find(refused.invocation.tool, refused.session, scopes)
        return offer is not None and isinstance(offer.backend, Staging) and offer.backend.stages(refused.invocation)

    def _preparation_desk(self, preparer: Preparer) -> PreparationDesk | None:
        """None where nothing is done ahead of calls."""
        wanted = self.config.speculation
        if wanted.mode is not Mode.SPECULATE:
            return None
        return PreparationDesk(
            preparations=Preparations(
                self._policy, frozenset(wanted.destinations), wanted.prepare, wanted.prepare_confidence
            ),
            preparer=preparer,
            toolbox=self._toolbox,
            sessions=self.sessions,
            tally=self.tally,
            clock=self._clock,
        )

    def _guess_desk(self) -> GuessDesk | None:
        wanted, made = self.config.speculator, self._guessing
        if wanted is None or made is None:
            return None
        discretion = Discretion(
            self._toolbox,
            self._policy.of_tool,
            everything=wanted.shows == "all",
            without_tools=wanted.without_tools,
            without_sessions=wanted.without_sessions,
        )
        return GuessDesk(
            guesser=made.guesser,
            speculator=made.speculator,
            discretion=discretion,
            toolbox=self._toolbox,
            foresight=self._foresight,
            sessions=self.sessions,
            tally=self.tally,
            clock=self._clock,
            outages=Outages(self._clock),
            where=str(URL(wanted.base_url).with_user(None).origin()),
            core=self._policy.core,
        )

    def _predictor(self) -> SessionPredictor:
        wanted = self.config.speculation
        told_from = min(wanted.min_confidence, wanted.prepare_confidence)
        return Predictor(
            self._pool,
            window=self.config.limits.window_events,
            candidates=wanted.candidates,
            executable=self._permission.runs,
            barred=self._permission.barred(told_from),
            adaptation=self._adaptation,
        )

    def _shared(self, tool: str) -> bool:
        """Whether a tool means the same to every session: one that is run alike for all of them, and reads nothing that
        is one session's own."""
        identity = self._toolbox.identify(tool)
        standing = self._policy.of_tool(identity)
        own = any("{session}" in domain for domain in standing.reads)
        return standing.allowed and not own and self._toolbox.shared(identity)


def scheduler(config: Config, policy: Policy) -> Scheduler:
    """The scheduler that a config asks for."""
    wanted = config.speculation
    limits = SpeculationLimits(
        slots=wanted.slots,
        candidates=wanted.candidates,
        min_confidence=wanted.min_confidence,
        min_benefit_s=wanted.min_benefit_s,
        ttl_s=wanted.ttl_s,
        result_bytes=wanted.result_bytes,
        held_bytes=wanted.held_bytes,
        held_results=wanted.held_results,
        destinations=frozenset(wanted.destinations),
    )
    capacities = {
        server: ServerCapacity(total=capacity.total, speculative=capacity.speculative)
        for server, capacity in config.capacity.items()
    }
    return Scheduler(policy, limits, wanted.mode, capacities, BudgetLimits(**dict(config.budget)))


def tool_routes(
    app: web.Application,
    config: Config,
    gate: ToolGate,
    clock: Clock,
    tally: Tally,
    policy: Policy,
    stages: "Stages | None" = None,
) -> None:
    """Every way in which agents call tools."""
    add_dispatch_routes(app, config, gate)
    add_mcp_routes(app, config, gate, clock=clock, fault=tally.fault, policy=policy, stages=stages)


def forwarding_only(config: Config) -> Parts:
    """A sidecar that forwards and looks at nothing."""
    tally = Tally()
    return Parts(
        tally=tally,
        turns=BlindTurns(),
        snapshot=NothingSeen(tally),
        sessions=lambda: 0,
        routes=(lambda app: tool_routes(app, config, OpenGate(), SystemClock(), tally, Policy()),),
    )
