"""Debian's Chromium, driven by its WebDriver: the one place that knows how it is started, and what it says."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

T = TypeVar("T")

PROGRAM, DRIVER = "chromium", "chromedriver"

SWITCHES = (
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--window-size=1500,1000",
)
WAIT_S = 60
"""A busy machine may take long to start a page; what is awaited is seen as soon as it is there."""


class Browser:
    """A window of Chromium."""

    def __init__(self, driver: webdriver.Chrome, downloads: Path) -> None:
        self.driver = driver
        self.downloads = downloads

    def open(self, page: Path | str) -> None:
        """Load a file or an address."""
        self.driver.get(page.as_uri() if isinstance(page, Path) else page)

    def all(self, selector: str, text: str = "") -> list[WebElement]:
        """The elements of a CSS selector that have the text."""
        return [each for each in self.driver.find_elements(By.CSS_SELECTOR, selector) if text in each.text]

    def one(self, selector: str, text: str = "") -> WebElement:
        """The first of them, waited for."""
        return self.until(lambda: next(iter(self.all(selector, text)), None), f"{selector} with {text!r}")

    def until(self, condition: Callable[[], T | None], what: str) -> T:
        """The result of ``condition`` once that is true; it is asked again where an element was replaced meanwhile."""
        gone = [StaleElementReferenceException]
        waiting = WebDriverWait(self.driver, WAIT_S, poll_frequency=0.05, ignored_exceptions=gone)
        found = waiting.until(lambda _: condition(), f"not seen: {what}")
        assert found is not None
        return found

    def click(self, selector: str, text: str = "") -> None:
        """Click an element."""

        def clicked() -> bool:
            self.one(selector, text).click()
            return True

        self.until(clicked, f"a click on {selector}")

    def type(self, selector: str, text: str) -> None:
        """Write into a field, instead of what is there."""
        field = self.one(selector)
        field.clear()
        field.send_keys(text)

    def choose(self, selector: str, value: str) -> None:
        """Choose an option of a list by its value."""
        self.click(f"{selector} option[value='{value}']")

    def hover(self, element: WebElement, x: int = 0, y: int = 0) -> None:
        """Move the pointer to a place of an element, counted from its middle."""
        ActionChains(self.driver, duration=0).move_to_element_with_offset(element, x, y).perform()

    def click_at(self, element: WebElement, x: int = 0, y: int = 0) -> None:
        """Click a place of an element, counted from its middle."""
        ActionChains(self.driver, duration=0).move_to_element_with_offset(element, x, y).click().perform()

    def press(self, key: str) -> None:
        """Press a key: a character, or the name of a key as the page receives it (``ArrowLeft``)."""
        codes = {"ArrowLeft": Keys.ARROW_LEFT, "ArrowRight": Keys.ARROW_RIGHT}
        ActionChains(self.driver).send_keys(codes.get(key, key)).perform()

    def script(self, text: str, *arguments: Any) -> Any:
        """The result of a script."""
        return self.driver.execute_script(text, *arguments)

    def texts(self, selector: str) -> list[str]:
        """The texts of elements, all at once, when the page has drawn what the last action changed."""
        self.drawn()
        texts: list[str] = self.script(
            "return [...document.querySelectorAll(arguments[0])].map((each) => each.innerText)", selector
        )
        return texts

    def drawn(self) -> None:
        """Wait until the page has drawn two frames: a table that is shown again learns its height in the first."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"
        )

    def downloaded(self, name: str) -> bytes:
        """A file that the page saved, waited for."""
        path = self.downloads / name
        self.until(path.exists, f"the download {name}")
        return path.read_bytes()

    def errors(self) -> list[str]:
        """The lines that the page wrote to the console since the last call."""
        entries: list[dict[str, Any]] = self.driver.get_log("browser")  # type: ignore[no-untyped-call] # Selenium's own
        return [str(entry["message"]) for entry in entries]

    def shoot(self, path: Path) -> None:
        """Save a picture of the window."""
        self.driver.save_screenshot(str(path))


@contextmanager
def open_browser(*, dark: bool = False) -> Iterator[Browser]:
    """A window with an empty profile; nothing of it is left afterwards."""
    missing = [name for name in (PROGRAM, DRIVER) if shutil.which(name) is None]
    if missing:
        pytest.skip(f"there is no {missing[0]}: apt-get install chromium chromium-driver")
    with TemporaryDirectory(prefix="rebalance-check-chromium-", ignore_cleanup_errors=True) as folder:
        downloads = Path(folder) / "downloads"
        downloads.mkdir()
        options = _options(Path(folder) / "profile", downloads, dark=dark)
        driver = webdriver.Chrome(options, Service(shutil.which(DRIVER)))
        try:
            yield Browser(driver, downloads)
        finally:
            driver.quit()


def _options(profile: Path, downloads: Path, *, dark: bool) -> Options:
    options = Options()
    options.binary_location = str(shutil.which(PROGRAM))
    for switch in (*SWITCHES, f"--user-data-dir={profile}"):
        options.add_argument(switch)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium refuses to run as root with it
    if dark:
        options.add_argument("--force-dark-mode")
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return options
